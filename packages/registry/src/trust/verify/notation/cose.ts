import { encode } from "cborg";
import { MAX_DER } from "../../x509/certificate.ts";
import { EpochTime, readCbor, Sign1 } from "./cbor.ts";
import { boundedChain, type Envelope, MAX_SIGNATURE, signedHeaders, TIMESTAMP, unreadable } from "./envelope.ts";

/** Labels of headers. Source: RFC 9052, section 3.1; RFC 9360. */
const ALGORITHM = 1;
const CRITICAL = 2;
const CONTENT_TYPE = 3;
const X5CHAIN = 33;
const NO_MORE = new Uint8Array();

/**
 * Reads an envelope in CBOR: a COSE_Sign1 with its tag. Throws a SignatureError. Source: RFC 9052, section 4.2;
 * notaryproject/specifications, signature-envelope-cose.md.
 */
export function readCose(content: Uint8Array): Envelope {
  const outer = read(content, "the envelope");
  if (!(outer instanceof Sign1) || !Array.isArray(outer.content) || outer.content.length !== 4)
    throw unreadable("the envelope is not a tagged COSE_Sign1");
  const [head, open, payload, signature] = outer.content as unknown[];
  if (!isBytes(head) || !isBytes(payload) || !isBytes(signature) || !(open instanceof Map))
    throw unreadable("the envelope does not hold headers, a payload and a signature");
  if (signature.length > MAX_SIGNATURE) throw unreadable(`the signature is larger than ${MAX_SIGNATURE} bytes`);
  const names = read(head, "the protected header");
  if (!(names instanceof Map)) throw unreadable("the protected header is not a map");
  for (const name of open.keys()) if (names.has(name)) throw unreadable(`${String(name)} is in both headers`);
  const stamp: unknown = open.get(TIMESTAMP);
  return {
    payload,
    message: encode(["Signature1", head, NO_MORE, payload]),
    signature,
    headers: signedHeaders(
      (name): unknown => names.get(name),
      { names: [...names.keys()], contentType: names.get(CONTENT_TYPE), critical: names.get(CRITICAL) },
      timeOf,
    ),
    isBy: ({ cose }) => names.get(ALGORITHM) === cose,
    chain: boundedChain(certificatesIn(open.get(X5CHAIN))),
    ...(stamp !== undefined && { timestamp: stampOf(stamp) }),
  };
}

function read(bytes: Uint8Array, what: string): unknown {
  try {
    return readCbor(bytes);
  } catch (error) {
    throw unreadable(`${what} cannot be read as CBOR: ${(error as Error).message.slice(0, 200)}`);
  }
}

function certificatesIn(value: unknown): Uint8Array[] {
  // A list, or one alone.
  const all: unknown[] = Array.isArray(value) ? value : [value];
  if (!all.every(isBytes)) throw unreadable("x5chain does not hold certificates");
  return all;
}

function stampOf(value: unknown): Uint8Array {
  if (!isBytes(value) || value.length > MAX_DER) throw unreadable(`the time stamp must have 1 to ${MAX_DER} bytes`);
  return value;
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length > 0;
}

function timeOf(value: unknown): number {
  const seconds = value instanceof EpochTime ? value.seconds : undefined;
  if (typeof seconds !== "number" || !Number.isSafeInteger(seconds) || Math.abs(seconds) > 8_640_000_000_000)
    throw new RangeError("not a time");
  return seconds * 1_000;
}
