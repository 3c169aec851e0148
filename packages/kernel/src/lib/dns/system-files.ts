import type { LookupAddress } from "node:dns";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";

/** What the files of the operating system say about names. */
export interface SystemNames {
  /** The addresses of the hosts file, by name in lower case. */
  hosts: Map<string, LookupAddress[]>;
  /** The domains in which a name is looked up, and the number of dots from which it is first looked up as it is. */
  search: string[];
  ndots: number;
}

const HOSTS_FILE =
  process.platform === "win32"
    ? join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", "drivers", "etc", "hosts")
    : "/etc/hosts";
const RESOLVER_FILE = "/etc/resolv.conf";
const FRESH_MS = 5_000;
const MAX_DOMAINS = 6;
const MAX_NDOTS = 15;

let known: { names: Promise<SystemNames>; readMs: number } | undefined;

/** The hosts file and the search list, read again after five seconds. A file that cannot be read says nothing. */
export function systemNames(): Promise<SystemNames> {
  const nowMs = performance.now();
  if (known !== undefined && nowMs - known.readMs < FRESH_MS) return known.names;
  const names = Promise.all([textOf(HOSTS_FILE), textOf(RESOLVER_FILE)]).then(([hosts, resolver]) => ({
    hosts: parseHosts(hosts),
    ...parseSearch(resolver),
  }));
  known = { names, readMs: nowMs };
  return names;
}

/** Source: hosts(5). */
export function parseHosts(text: string): SystemNames["hosts"] {
  const hosts: SystemNames["hosts"] = new Map();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = (line.split("#", 1)[0] ?? "").trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }]);
    }
  }
  return hosts;
}

/** Source: resolv.conf(5). The last of several lists counts. */
export function parseSearch(text: string): Pick<SystemNames, "search" | "ndots"> {
  let search: string[] = [];
  let ndots = 1;
  for (const line of text.split("\n")) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === "search") search = values.slice(0, MAX_DOMAINS);
    if (keyword === "domain") search = values.slice(0, 1);
    if (keyword !== "options") continue;
    for (const value of values) {
      const [, dots] = /^ndots:(\d+)$/.exec(value) ?? [];
      if (dots !== undefined) ndots = Math.min(Number(dots), MAX_NDOTS);
    }
  }
  return { search: search.map((domain) => domain.replace(/\.$/, "")).filter((domain) => domain !== ""), ndots };
}

async function textOf(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => "");
}
