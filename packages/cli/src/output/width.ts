// How many columns of a terminal a text takes.
import stringWidth from "string-width";

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
const ASCII = /^[\x20-\x7e]*$/;

/** The columns that a text without control characters takes: two for East Asian letters, none for combining marks. */
export function widthOf(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

/** The text with blanks up to a width, in front of it for `right`. */
export function pad(text: string, width: number, right = false): string {
  const blanks = " ".repeat(Math.max(0, width - widthOf(text)));
  return right ? blanks + text : text + blanks;
}

/** The text, or its beginning with `…`, in at most so many columns. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, used] = ["", 0];
  for (const { segment } of segmenter.segment(text)) {
    const wide = widthOf(segment);
    if (used + wide > width - 1) break;
    kept += segment;
    used += wide;
  }
  return width < 1 ? "" : `${kept}…`;
}
