/** Something that a release has, and that cannot be made on this machine. The message says what and why, in a line. */
export class Missing extends Error {
  override readonly name = "Missing";
}
