// What is wrong with a command line, in one line.

/** Commander's text for an error, such as `error: unknown option '--x'\n(Did you mean --y?)`, as one line of ours. */
export function usageLine(text: string): string {
  const [first = "", ...more] = text.trim().split("\n");
  const hints = more
    .map((line) => line.trim().replace(/^\((.*)\)$/, "$1"))
    .filter((line) => line !== "")
    .map((line) => `; ${line.charAt(0).toLowerCase()}${line.slice(1)}`);
  return `moorage: ${first.replace(/^error: /, "")}${hints.join("")}\n`;
}
