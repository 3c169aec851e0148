import { randomInt } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { hashOf } from "../sign-in/secrets.ts";

// Codes of authenticator apps. Source: RFC 6238; the values are those that all apps know.
const STEP_S = 30;
const DIGITS = 6;
const SECRET_BYTES = 20;
/** How many steps an app's clock may be off. */
const WINDOW = 1;

const CODES = 10;
// Crockford's base 32: no letters that look like digits.
const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_CHARS = 12;

/** A new secret in base 32, as a person may type it into an app. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** The address that an app reads as a QR code. */
export function totpUri(secret: string, { issuer, name }: { issuer: string; name: string }): string {
  return totpOf(secret, { issuer, label: name }).toString();
}

/**
 * The time step whose code it is, where that is later than `after`, so that a code works once; undefined for another
 * code.
 */
export function totpStep(
  secret: string,
  code: string,
  { nowMs, after }: { nowMs: number; after: number },
): number | undefined {
  const token = code.replace(/\s/g, "");
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = totpOf(secret).validate({ token, timestamp: nowMs, window: WINDOW });
  if (delta === null) return undefined;
  const step = Math.floor(nowMs / 1000 / STEP_S) + delta;
  return step > after ? step : undefined;
}

function totpOf(secret: string, names: { issuer?: string; label?: string } = {}): TOTP {
  return new TOTP({ secret: Secret.fromBase32(secret), algorithm: "SHA1", digits: DIGITS, period: STEP_S, ...names });
}

/** Codes that each work once in place of an app that is lost: 60 random bits, in groups of four. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => {
    const code = Array.from({ length: CODE_CHARS }, () => LETTERS[randomInt(LETTERS.length)]).join("");
    return `${code.slice(0, 4)}-${code.slice(4, 8)}-${code.slice(8)}`;
  });
}

/** The hash under which a recovery code is stored; undefined for a text that cannot be one. */
export function recoveryCodeHash(text: string): string | undefined {
  const code = text.slice(0, 64).toUpperCase().replace(/[\s-]/g, "");
  return code.length === CODE_CHARS && [...code].every((char) => LETTERS.includes(char))
    ? hashOf(`recovery code ${code}`)
    : undefined;
}
