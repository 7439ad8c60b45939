// The look: that of the system until the reader chooses one.
"use strict";
const root = document.documentElement;
const system = window.matchMedia("(prefers-color-scheme: dark)");
const lookButton = document.getElementById("look");

function storedLook() {
  try { return localStorage.getItem("leanset-look"); } catch { return null; } // pages from disk may have no storage
}

function setLook(look) {
  root.dataset.look = look;
  const other = look === "dark" ? "light" : "dark";
  lookButton.textContent = other === "dark" ? "Dark" : "Light";
  lookButton.setAttribute("aria-label", `Switch to the ${other} look`);
}

setLook(storedLook() || (system.matches ? "dark" : "light"));
system.addEventListener("change", (event) => { if (!storedLook()) setLook(event.matches ? "dark" : "light"); });
lookButton.addEventListener("click", () => {
  const look = root.dataset.look === "dark" ? "light" : "dark";
  setLook(look);
  try { localStorage.setItem("leanset-look", look); } catch { /* it lasts as long as the page */ }
});

// Paper cannot be opened up, so everything is before it is printed.
window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));

function parsed(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : {};
}

function made(tag, attributes = {}, ...children) {
  // Text goes in as text: markup in the names of classes and files stays visible and does nothing.
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
