// Sentences in the width of a terminal.
import { widthOf } from "./width.ts";

/**
 * The text in lines of at most so many columns, broken between words; those after the first begin with `indent`. A word
 * that is longer has a line of its own.
 */
export function wrapped(text: string, columns: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line.trim() !== "" && widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(line);
      line = indent + word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
