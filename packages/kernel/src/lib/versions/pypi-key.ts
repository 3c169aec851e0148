import { parse } from "@renovatebot/pep440";
import { isPypiVersion } from "./pypi.ts";
import { numberKey } from "./sort-keys.ts";

/**
 * Ends a list of parts: smaller than all that parts begin with, so that of two lists the one that ends first is
 * earlier.
 */
const END = " ";
const PRE_RELEASES: Readonly<Record<string, string>> = { a: "a", b: "b", rc: "c" };

/**
 * A text for each version whose order, byte by byte, is the order of `comparePypi`, but that what is no version by PEP
 * 440 stands before all that is in the order of its characters. Source: PEP 440, "summary of permitted suffixes and
 * relative ordering".
 */
export function pypiKey(version: string): string {
  const found = isPypiVersion(version) ? parse(version.trim()) : null;
  if (found === null) return `!${version}`;
  const { epoch, release, pre, post, dev } = found;
  // The library answers a list, although its type says that it is a text.
  const local: unknown = found.local;
  const parts: readonly unknown[] = Array.isArray(local) ? local : [];
  const numbers = [...release];
  while (numbers.at(-1) === 0) numbers.pop();
  return [
    "v",
    keyOf(epoch),
    ...numbers.map(keyOf),
    END,
    pre ? `1${PRE_RELEASES[String(pre[0])] ?? "c"}${keyOf(pre[1])}` : post === null && dev !== null ? "0" : "2",
    post ? `1${keyOf(post[1])}` : "0",
    dev ? `0${keyOf(dev[1])}` : "1",
    ...parts.map((part) => (typeof part === "number" ? `2${keyOf(part)}` : `1${String(part)}${END}`)),
  ].join("");
}

function keyOf(value: unknown): string {
  return numberKey(BigInt(Number(value ?? 0)).toString());
}
