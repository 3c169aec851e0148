import { isIPv6 } from "node:net";

/** A host and, where one was given, a port: the authority of an http URL without a user. */
export interface Host {
  /** In lower case, without the dot that may end a domain name; an IPv6 address in brackets. */
  name: string;
  /** Undefined where the scheme's own port is meant. */
  port: number | undefined;
}

const MAX_NAME_CHARS = 253;
const MAX_CHARS = MAX_NAME_CHARS + ":65535".length;
const FORM = /^(\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::([0-9]{1,5}))?$/i;
// An underscore is in no host name of the Internet, but in those of containers.
const LABEL = /^[0-9a-z_](?:[0-9a-z_-]*[0-9a-z_])?$/i;
const MAX_LABEL_CHARS = 63;

/**
 * Parses `host[:port]`: a domain name, an IPv4 address, or an IPv6 address in brackets. Undefined for everything else,
 * such as a user, a comma, a space, a name that is not in ASCII, or port 0. Source: RFC 3986 §3.2, RFC 1123 §2.1.
 */
export function parseHost(text: string): Host | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const [, given, digits] = FORM.exec(text) ?? [];
  if (given === undefined) return undefined;
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const name = given.replace(/\.$/, "").toLowerCase();
  const isValid = name.startsWith("[") ? isIPv6(name.slice(1, -1)) : isName(name);
  // A name that ends in a number is an IPv4 address to a browser, or nothing.
  return isValid && URL.canParse(`http://${text}`) ? { name, port } : undefined;
}

function isName(name: string): boolean {
  if (name.length > MAX_NAME_CHARS) return false;
  return name.split(".").every((label) => label.length <= MAX_LABEL_CHARS && LABEL.test(label));
}
