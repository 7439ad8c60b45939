// Browsers refuse workers to pages that are opened from disk. There, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = frame.contentWindow
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      inside.importScripts = (...urls) =>
        urls.reduce((earlier, each) => earlier.then(() => load(inside, new URL(each, url))), Promise.resolve())
      this.ready = load(inside, url)
      this.inside = inside
      this.onmessage = null
      this.addEventListener("message", (event) => this.onmessage && this.onmessage(event))
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
  window.Worker = window.IFrameWorker

  function load(inside, url) {
    return new Promise((resolve, reject) => {
      const script = inside.document.createElement("script")
      script.src = url
      script.onload = resolve
      script.onerror = reject
      inside.document.body.append(script)
    })
  }
}
