/** A text from elsewhere without characters that control a terminal. */
export function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 500);
}
