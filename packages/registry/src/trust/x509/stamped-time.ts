import { createHash } from "node:crypto";
import { ASN1Obj } from "@sigstore/core";
import { SHA2 } from "./hashes.ts";

/** Between which times something was stamped. Milliseconds since 1970. */
export interface StampedTime {
  fromMs: number;
  untilMs: number;
}

const TIME = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(?:\.(\d{1,9}))?Z$/;
const MAX_ACCURACY_MS = 86_400_000;

/** When the bytes were stamped, as a token says. Throws if it is about others. Source: RFC 3161, section 2.4.2. */
export function stampedTime(content: Uint8Array, stamped: Uint8Array): StampedTime {
  const [, , imprint, , time, ...more] = ASN1Obj.parseBuffer(Buffer.from(content)).subs;
  const [algorithm, digest] = imprint?.subs ?? [];
  const hash = SHA2.get(algorithm?.subs[0]?.toOID() ?? "");
  if (hash === undefined || digest?.value.equals(createHash(hash).update(stamped).digest()) !== true)
    throw new Error("it is of something else");
  if (time?.tag.isGeneralizedTime() !== true) throw new Error("it has no time");
  const parts = TIME.exec(time.value.toString("latin1").slice(0, 40));
  if (parts === null) throw new Error("its time cannot be read");
  const [, year, month, day, hour, minute, second, fraction = ""] = parts;
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, "0").slice(0, 3)}Z`;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Error("its time cannot be read");
  const accuracyMs = accuracyIn(more[0]);
  return { fromMs: ms - accuracyMs, untilMs: ms + accuracyMs };
}

const SEQUENCE = 0x10;

/** How exact the time is, in whole milliseconds; 0 where it does not say. */
function accuracyIn(value: ASN1Obj | undefined): number {
  if (value === undefined || !value.tag.isUniversal() || value.tag.number !== SEQUENCE) return 0;
  let ms = 0;
  for (const { tag, value: bytes } of value.subs) {
    if (bytes.length > 5) throw new Error("its accuracy cannot be read");
    const number = Number(BigInt(`0x0${bytes.toString("hex")}`));
    ms += tag.isInteger() ? number * 1_000 : tag.isContextSpecific(0) ? number : Math.ceil(number / 1_000);
  }
  if (ms > MAX_ACCURACY_MS) throw new Error("its time is not exact to a day");
  return ms;
}
