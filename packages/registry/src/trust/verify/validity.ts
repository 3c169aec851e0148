import { SignatureCode, SignatureState } from "@moorage/api/messages";
import type { Segment, SpecKey } from "./types.ts";

/** When a key, or a certificate, counts. Milliseconds since 1970. */
type Bounds = Omit<SpecKey, "pem">;

/**
 * What a signature by the key is worth from now on, or by a certificate where `what` says so. `signedMs`: a time at
 * which it had been made by the word of somebody whom the signer lets say so; undefined without. With such a time it
 * holds for good when the key was valid and not revoked then; without, as long as the key is valid and not revoked.
 */
export function segmentsOf(
  key: Bounds,
  signedMs: number | undefined,
  nowMs: number,
  what: "key" | "certificate" = "key",
): Segment[] {
  const { notBeforeMs = -Infinity, notAfterMs = Infinity, revokeMs = Infinity } = key;
  const wasValid = signedMs !== undefined && signedMs >= notBeforeMs && signedMs < Math.min(notAfterMs, revokeMs);
  if (wasValid) return [{ fromMs: nowMs, ...TRUSTED }];
  if (signedMs !== undefined && signedMs < notBeforeMs)
    return [{ fromMs: nowMs, ...expired(`it was made before ${day(notBeforeMs)}, from when on the ${what} is valid`) }];
  const ends = [notBeforeMs, notAfterMs, revokeMs].filter((ms) => ms > nowMs && Number.isFinite(ms));
  const starts = [...new Set([nowMs, ...ends])].sort((one, other) => one - other);
  return starts.map((fromMs, at) => {
    const untilMs = starts[at + 1];
    return { fromMs, ...(untilMs !== undefined && { untilMs }), ...worthAt(fromMs, key, what) };
  });
}

type Worth = Pick<Segment, "state" | "code" | "reason">;

const TRUSTED: Worth = { state: SignatureState.TRUSTED, code: SignatureCode.UNSPECIFIED, reason: "" };
const NO_TIME = "and no time that counts shows that it was made before";

function worthAt(
  ms: number,
  { notBeforeMs = -Infinity, notAfterMs = Infinity, revokeMs = Infinity }: Bounds,
  what: string,
): Worth {
  if (ms >= revokeMs)
    return {
      state: SignatureState.REVOKED,
      code: SignatureCode.REVOKED,
      reason: `the ${what} is revoked since ${day(revokeMs)}, ${NO_TIME}`,
    };
  if (ms >= notAfterMs) return expired(`the ${what} was valid until ${day(notAfterMs)}, ${NO_TIME}`);
  return ms < notBeforeMs ? expired(`the ${what} is valid from ${day(notBeforeMs)} on`) : TRUSTED;
}

function expired(reason: string): Worth {
  return { state: SignatureState.EXPIRED, code: SignatureCode.EXPIRED, reason };
}

function day(ms: number): string {
  return new Date(ms).toISOString();
}
