/** Prints how far the run is to standard error; the results alone are on standard output. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
