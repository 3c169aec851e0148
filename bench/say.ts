/** Tells whoever waits how far the run is; the results alone are on standard output. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
