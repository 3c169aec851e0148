import { randomFillSync } from "node:crypto";

// A uid contains the uids of all its ancestors: 20 random bytes in hex, then 8 more for each level below. Source:
// docs/contract.md, "Resource names".
const FORM = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

export function isUid(text: string): boolean {
  return FORM.test(text);
}

// Asking for a few random bytes costs as much as asking for a few hundred.
const random = Buffer.alloc(4096);
let used = random.length;

function randomHex(bytes: number): string {
  if (used + bytes > random.length) {
    randomFillSync(random);
    used = 0;
  }
  return random.toString("hex", used, (used += bytes));
}

/** A new uid below the parent, or at the root when `parent` is empty. */
export function newUid(parent: string): string {
  return parent === "" ? randomHex(20) : `${parent}/${randomHex(8)}`;
}

/** The uid of the parent; empty at the root. */
export function parentOf(uid: string): string {
  const cut = uid.lastIndexOf("/");
  return cut < 0 ? "" : uid.slice(0, cut);
}

/** The uid of the organization that it belongs to. */
export function organizationOf(uid: string): string {
  const cut = uid.indexOf("/");
  return cut < 0 ? uid : uid.slice(0, cut);
}

/** The ancestors without the uid itself, outermost first. */
export function ancestorsOf(uid: string): string[] {
  const found: string[] = [];
  for (let cut = uid.indexOf("/"); cut >= 0; cut = uid.indexOf("/", cut + 1)) found.push(uid.slice(0, cut));
  return found;
}

/** Whether `uid` is `ancestor` itself or below it. `a/bc` is not below `a/b`. */
export function isWithin(uid: string, ancestor: string): boolean {
  return uid === ancestor || (uid.length > ancestor.length && uid.startsWith(ancestor) && uid[ancestor.length] === "/");
}
