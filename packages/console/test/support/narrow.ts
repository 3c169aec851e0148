import type { Page } from "playwright-core";

/** Words that are no longer than this stay whole, however narrow the window is. */
const LONGEST_WHOLE_WORD = 16;

/**
 * What a reader of a narrow window cannot read well, a line each: texts that the window or a frame cuts, and short
 * words of tables and headings that go on in the next line. Texts that end with an ellipsis or can be scrolled are not
 * cut.
 */
export async function unreadableOf(page: Page): Promise<string[]> {
  return await page.evaluate(`(async () => {
    // What depends on the width is laid out by then.
    for (let frames = 0; frames < 2; frames++) await new Promise((resolve) => requestAnimationFrame(resolve));
    const found = [];
    const isCut = (box, element) => {
      for (let each = element; each !== null && each !== document.body; each = each.parentElement) {
        const { overflowX, textOverflow } = getComputedStyle(each);
        if (overflowX === "auto" || overflowX === "scroll" || textOverflow === "ellipsis") return false;
        const frame = each.getBoundingClientRect();
        if (overflowX !== "visible" && (box.right > frame.right + 1 || box.left < frame.left - 1)) return true;
      }
      return box.right > innerWidth + 1 || box.left < -1;
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      if (node.data.trim() === "" || element.closest(".visually-hidden, script, style, select, svg") !== null) continue;
      if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const boxes = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
      if (boxes.some((box) => isCut(box, element)))
        found.push("cut: " + node.data.trim().slice(0, 60));
      if (element.closest("table, h1, h2, [role=tab], button") === null) continue;
      for (const { 0: word, index } of node.data.matchAll(/[^\\s/@:-]+/g)) {
        if (word.length > ${LONGEST_WHOLE_WORD} || /^[0-9a-f]{8,}…?$/.test(word)) continue;
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const tops = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
        if (tops.size > 1) found.push("broken: " + word + ", in " + node.data.trim().slice(0, 60));
      }
    }
    return found;
  })()`);
}

/** The sentences about what a page is for that take several lines in less than nine tenths of its width. */
export async function squeezedOf(page: Page): Promise<string[]> {
  return await page.evaluate(`[...document.querySelectorAll("main header [class*=lede]")]
    .filter((lede) => lede.offsetHeight > 1.5 * parseFloat(getComputedStyle(lede).lineHeight))
    .filter((lede) => lede.offsetWidth < 0.9 * lede.closest("header").offsetWidth)
    .map((lede) => "squeezed: " + lede.textContent.slice(0, 60))`);
}
