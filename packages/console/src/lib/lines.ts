/** The lines of a text that are not empty, without the space around them. */
export function linesOf(text: FormDataEntryValue | string | null | undefined): string[] {
  return String(text ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
