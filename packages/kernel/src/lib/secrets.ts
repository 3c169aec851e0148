import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** Encrypts secrets, so that the database alone does not reveal them. */
export interface Secrets {
  /** Encrypts the text and binds it to a place, such as a column of a row, which must be named again to open it. */
  seal(text: string, place: string): string;
  /**
   * Decrypts the text. Throws a SecretError when it was sealed with an unknown key or for another place, or was
   * changed.
   */
  open(sealed: string, place: string): string;
  /** Whether the text was sealed with the current key. */
  isCurrent(sealed: string): boolean;
}

/** A secret that cannot be opened. */
export class SecretError extends Error {}

// s1.<first 8 hex of the key's SHA-256>.<iv 12 | ciphertext | tag 16, base64url>, by AES-256-GCM with the place as
// associated data.
const FORM = /^s1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Takes keys of 32 bytes each: the first one seals, all of them open. Throws a SecretError without a key. */
export function createSecrets(keys: readonly Uint8Array[]): Secrets {
  const ring = new Map(keys.map((key) => [createHash("sha256").update(key).digest("hex").slice(0, 8), key]));
  const [current] = ring.entries();
  if (current === undefined) throw new SecretError("there is no key to seal secrets with");
  const [currentId, currentKey] = current;
  return {
    seal(text, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", currentKey, iv).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `s1.${currentId}.${sealed.toString("base64url")}`;
    },
    open(sealed, place) {
      const [, id = "", text = ""] = FORM.exec(sealed) ?? [];
      const key = ring.get(id);
      if (key === undefined) throw new SecretError("a secret in the database was sealed with another key");
      const bytes = Buffer.from(text, "base64url");
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(place));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString(
          "utf8",
        );
      } catch (cause) {
        throw new SecretError("a secret in the database was changed, or belongs elsewhere", { cause });
      }
    },
    isCurrent: (sealed) => FORM.exec(sealed)?.[1] === currentId,
  };
}

/** Whether a text in the database is sealed; the first releases stored secrets unsealed. */
export function isSealed(text: string): boolean {
  return FORM.test(text);
}
