/** What servers say of commands that do not declare what they do, while rows are watched. */
const UNDECLARED = /does not declare what it changes|share a transaction meet/;

/** The lines of a server's log that say so. */
export function undeclaredIn(lines: readonly object[]): string[] {
  return lines.map((line) => JSON.stringify(line)).filter((line) => UNDECLARED.test(line));
}
