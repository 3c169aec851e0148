/** The last part of a uid, shortened: enough to know it by. */
export function shortUid(uid: string): string {
  const last = uid.slice(uid.lastIndexOf("/") + 1);
  return last.length > 16 ? `${last.slice(0, 12)}…` : last;
}

/** The uid of what it stands below; empty at the root. */
export function parentUid(uid: string): string {
  return uid.slice(0, Math.max(uid.lastIndexOf("/"), 0));
}
