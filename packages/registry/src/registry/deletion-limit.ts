/** Of how many tags one may be deleted within an hour without force. */
const ONE_OF = 10;

/** The time in which deletions count together, in milliseconds. */
export const DELETIONS_MS = 3_600_000;

/** Whether so many of all tags are more than are deleted without force, where deletions somewhere else are followed. */
export function isTooMany(going: number, all: number): boolean {
  return going * ONE_OF > all;
}
