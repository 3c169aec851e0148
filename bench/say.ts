/** Prints the progress of the run to standard error; standard output has only the results. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
