/** An attribute of a name, as C for a country. */
export type NameAttribute = readonly [type: string, value: string];

/** The attributes that identities may ask for, by their object identifiers. Source: RFC 4519, RFC 4514. */
export const ATTRIBUTES: Readonly<Record<string, string>> = {
  "2.5.4.3": "CN",
  "2.5.4.5": "SERIALNUMBER",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.9": "STREET",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "2.5.4.17": "POSTALCODE",
};

const NAMES: ReadonlySet<string> = new Set(Object.values(ATTRIBUTES));
const MANDATORY = ["C", "ST", "O"];
const PREFIX = "x509.subject:";
const ANY = "*";
const HEX_PAIR = /^[0-9A-Fa-f]{2}$/;

/** Whose certificates count: those of anybody, or those whose subject has all of these attributes. */
export type TrustedIdentity = "*" | readonly NameAttribute[];

/** Why a text is not a valid identity of Notation; the message may be shown to whoever sent it. */
export class IdentityError extends Error {}

/**
 * Reads `x509.subject: C=US, ST=WA, O=acme, CN=release`, or `*`. Throws an IdentityError. Source:
 * notaryproject/specifications, trust-store-trust-policy.md, "Trusted Identities Constraints"; RFC 4514.
 */
export function trustedIdentity(text: string): TrustedIdentity {
  if (text === ANY) return ANY;
  if (!text.startsWith(PREFIX)) throw new IdentityError(`must be "*", or begin with "${PREFIX}"`);
  const attributes = attributesIn(text.slice(PREFIX.length));
  const seen = new Set<string>();
  for (const [type] of attributes) {
    if (!NAMES.has(type)) throw new IdentityError(`asks for ${type}: use ${[...NAMES].join(", ")}`);
    if (seen.has(type)) throw new IdentityError(`names ${type} twice`);
    seen.add(type);
  }
  const missing = MANDATORY.filter((type) => !seen.has(type));
  if (missing.length > 0) throw new IdentityError(`must name ${missing.join(", ")}: C, ST and O are mandatory`);
  return attributes;
}

/** Whether the subject has all that the identity asks for, each once: what is there twice is not known. */
export function isOf(subject: readonly NameAttribute[], identity: TrustedIdentity): boolean {
  if (identity === ANY) return true;
  return identity.every(([type, value]) => {
    const [first, ...more] = subject.filter((each) => each[0] === type);
    return first?.[1] === value && more.length === 0;
  });
}

function attributesIn(text: string): NameAttribute[] {
  return splitAt(text, ",").map((each) => {
    const [type = "", ...values] = splitAt(each, "=");
    if (values.length !== 1) throw new IdentityError("must be attributes with a value each, as C=US, ST=WA, O=acme");
    const name = type.trim().toUpperCase();
    return [name === "S" ? "ST" : name, valueOf(values[0] ?? "")];
  });
}

/** The parts between these characters, as they are written, unless a backslash stands before one. */
function splitAt(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === separator) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}

/** The value without spaces around it, and with what backslashes stand before. */
function valueOf(written: string): string {
  const text = written.trimStart();
  if (text.startsWith("#")) throw new IdentityError("has a value in hexadecimal, which is not supported");
  const bytes: Buffer[] = [];
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = String.fromCodePoint(text.codePointAt(at) ?? 0);
    const isEscaped = unit === "\\";
    if (isEscaped) {
      const pair = text.slice(at + 1, at + 3);
      const isHex = HEX_PAIR.test(pair);
      bytes.push(isHex ? Buffer.from(pair, "hex") : Buffer.from(text.slice(at + 1, at + 2)));
      if (at + 1 >= text.length) throw new IdentityError("ends with a backslash");
      at += isHex ? 2 : 1;
      end = bytes.length;
      continue;
    }
    if ('+;<>"\0'.includes(unit)) throw new IdentityError(`must have a backslash before ${unit} in a value`);
    bytes.push(Buffer.from(unit));
    at += unit.length - 1;
    if (unit !== " ") end = bytes.length;
  }
  if (end === 0) throw new IdentityError("has an attribute without a value");
  return Buffer.concat(bytes.slice(0, end)).toString("utf8");
}
