import { isObject } from "@moorage/kernel/lib/json";
import { MAX_DER } from "../../x509/certificate.ts";
import { MAX_CHAIN } from "../../x509/chain.ts";
import { base64Of, strictObject } from "../statement.ts";
import { boundedChain, type Envelope, MAX_SIGNATURE, signedHeaders, TIMESTAMP, unreadable } from "./envelope.ts";

const MAX_PART = 1 << 20;
/** RFC 3339, as it is written in the headers. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads an envelope in JSON. Throws a SignatureError. Source: RFC 7515, section 7.2.2; notaryproject/specifications,
 * signature-envelope-jws.md.
 */
export function readJws(content: Uint8Array): Envelope {
  const { payload, protected: head, header, signature } = strictObject(content, "the envelope");
  const signed = base64Url(head, "protected", MAX_PART);
  const names = strictObject(signed, "the protected header");
  if (!isObject(header)) throw unreadable("the envelope has no header with certificates");
  for (const name of Object.keys(header))
    if (Object.hasOwn(names, name)) throw unreadable(`${name.slice(0, 100)} is in both headers`);
  const { x5c, [TIMESTAMP]: stamp } = header;
  if (!Array.isArray(x5c) || x5c.length > MAX_CHAIN)
    throw unreadable(`x5c must be a list of 1 to ${MAX_CHAIN} certificates`);
  return {
    payload: base64Url(payload, "payload", MAX_PART),
    message: Buffer.from(`${String(head)}.${String(payload)}`),
    signature: base64Url(signature, "signature", MAX_SIGNATURE),
    headers: signedHeaders(
      (name) => names[name],
      { names: Object.keys(names), contentType: names["cty"], critical: names["crit"] },
      timeOf,
    ),
    isBy: ({ name }) => names["alg"] === name,
    chain: boundedChain(x5c.map((each, at) => base64Of(each, `x5c[${at}]`, 2 * MAX_DER))),
    ...(stamp !== undefined && { timestamp: base64Of(stamp, "the time stamp", MAX_DER) }),
  };
}

function base64Url(value: unknown, what: string, maxBytes: number): Buffer {
  if (typeof value !== "string" || value === "") throw unreadable(`${what} is missing`);
  if (value.length > Math.ceil((maxBytes / 3) * 4)) throw unreadable(`${what} is larger than ${maxBytes} bytes`);
  const bytes = Buffer.from(value, "base64url");
  if (bytes.toString("base64url") !== value) throw unreadable(`${what} is not base64url`);
  return bytes;
}

function timeOf(value: unknown): number {
  const ms = typeof value === "string" && value.length < 50 && TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw new RangeError("not a time");
  return ms;
}
