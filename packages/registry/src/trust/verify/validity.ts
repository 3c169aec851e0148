import { SignatureCode, SignatureState } from "@moorage/api/messages";
import type { Segment, SpecKey } from "./types.ts";

/**
 * What a signature by the key is worth from now on. `signedMs`: a time at which it had been made by the word of
 * somebody whom the signer lets say so; undefined without. With such a time it holds for good when the key was valid
 * and not revoked then; without, as long as the key is valid and not revoked.
 */
export function segmentsOf(key: SpecKey, signedMs: number | undefined, nowMs: number): Segment[] {
  const { notBeforeMs = -Infinity, notAfterMs = Infinity, revokeMs = Infinity } = key;
  const wasValid = signedMs !== undefined && signedMs >= notBeforeMs && signedMs < Math.min(notAfterMs, revokeMs);
  if (wasValid) return [{ fromMs: nowMs, ...TRUSTED }];
  if (signedMs !== undefined && signedMs < notBeforeMs)
    return [{ fromMs: nowMs, ...expired(`it was made before ${day(notBeforeMs)}, from when on the key is valid`) }];
  const ends = [notBeforeMs, notAfterMs, revokeMs].filter((ms) => ms > nowMs && Number.isFinite(ms));
  const starts = [...new Set([nowMs, ...ends])].sort((one, other) => one - other);
  return starts.map((fromMs, at) => {
    const untilMs = starts[at + 1];
    return { fromMs, ...(untilMs !== undefined && { untilMs }), ...worthAt(fromMs, key) };
  });
}

type Worth = Pick<Segment, "state" | "code" | "reason">;

const TRUSTED: Worth = { state: SignatureState.TRUSTED, code: SignatureCode.UNSPECIFIED, reason: "" };
const NO_TIME = "and no time that counts shows that it was made before";

function worthAt(ms: number, { notBeforeMs = -Infinity, notAfterMs = Infinity, revokeMs = Infinity }: SpecKey): Worth {
  if (ms >= revokeMs)
    return {
      state: SignatureState.REVOKED,
      code: SignatureCode.REVOKED,
      reason: `the key is revoked since ${day(revokeMs)}, ${NO_TIME}`,
    };
  if (ms >= notAfterMs) return expired(`the key was valid until ${day(notAfterMs)}, ${NO_TIME}`);
  return ms < notBeforeMs ? expired(`the key is valid from ${day(notBeforeMs)} on`) : TRUSTED;
}

function expired(reason: string): Worth {
  return { state: SignatureState.EXPIRED, code: SignatureCode.EXPIRED, reason };
}

function day(ms: number): string {
  return new Date(ms).toISOString();
}
