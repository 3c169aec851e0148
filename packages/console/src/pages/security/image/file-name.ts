/** The text as the name of a file: what is no letter, digit, dot, @ or hyphen becomes a hyphen. */
export function fileName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9.@-]+/g, "-");
}
