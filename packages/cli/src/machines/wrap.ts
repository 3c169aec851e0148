// Sentences in the width of a terminal.
import { widthOf } from "../output/width.ts";

const COLUMNS = 80;

/** The text in lines of at most 80 columns; a word that is longer has a line of its own. */
export function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > COLUMNS) {
      lines.push(line);
      line = word;
    } else line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line];
}
