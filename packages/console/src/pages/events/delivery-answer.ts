/** `204`, or why there was no success. */
export function answerOf(status: number, error: string): string {
  return [status > 0 ? String(status) : "", error].filter((part) => part !== "").join(": ") || "none yet";
}
