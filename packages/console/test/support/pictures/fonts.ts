import type { Page } from "playwright-core";

/** Run in the page: puts the letters that it shows in each family of fonts into one element for each family. */
const GATHER = String.raw`(() => {
  const families = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility()) continue;
    const family = getComputedStyle(node.parentElement).fontFamily;
    const letters = families.get(family) ?? new Set();
    for (const letter of node.nodeValue) if (letter.trim() !== "") letters.add(letter);
    families.set(family, letters);
  }
  const show = (family, name, text) => {
    const element = document.createElement("span");
    element.dataset.letter = name;
    element.style.fontFamily = family;
    element.textContent = text;
    document.body.append(element);
  };
  for (const [family, letters] of families) {
    const plain = [...letters].filter((letter) => letter <= "~");
    show(family, "a plain letter", plain.join(""));
    for (const letter of letters) if (letter > "~") show(family, letter, letter);
  }
})()`;
const CLEAR = `for (const element of document.querySelectorAll("[data-letter]")) element.remove();`;

/**
 * The letters on the page that a font of the machine draws, each with the font's name: the console brings its own
 * fonts, so that it looks the same everywhere.
 */
export async function drawnByMachine(page: Page): Promise<string[]> {
  const client = await page.context().newCDPSession(page);
  try {
    await page.evaluate(GATHER);
    await client.send("DOM.enable");
    await client.send("CSS.enable");
    const { root } = await client.send("DOM.getDocument");
    const selected = { nodeId: root.nodeId, selector: "[data-letter]" };
    const { nodeIds } = await client.send("DOM.querySelectorAll", selected);
    const found: string[] = [];
    for (const nodeId of nodeIds) {
      const { fonts } = await client.send("CSS.getPlatformFontsForNode", { nodeId });
      const { attributes } = await client.send("DOM.getAttributes", { nodeId });
      for (const { familyName, isCustomFont } of fonts)
        if (!isCustomFont) found.push(`${attributes[attributes.indexOf("data-letter") + 1] ?? ""}: ${familyName}`);
    }
    return found;
  } finally {
    await page.evaluate(CLEAR);
    await client.detach();
  }
}
