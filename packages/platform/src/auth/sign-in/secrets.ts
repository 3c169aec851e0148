import { hash, randomBytes } from "node:crypto";

/** 256 random bits as 43 characters that are valid in URLs, cookies and headers. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

const FORM = /^[A-Za-z0-9_-]{43}$/;

/** Whether the text has the form of `newSecret`, which a code challenge has too. Source: RFC 7636 §4.2. */
export function isSecret(text: string): boolean {
  return FORM.test(text);
}

/** The SHA-256 by which a secret is stored and found, in hex. */
export function hashOf(text: string): string {
  return hash("sha256", text, "hex");
}

/** The S256 challenge of a PKCE verifier. Source: RFC 7636 §4.6. */
export function challengeOf(verifier: string): string {
  return hash("sha256", verifier, "base64url");
}
