/** What a terminal can show of a text that came from elsewhere. */
export function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 500);
}
