import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import keys from "./rsa-keys.json" with { type: "json" };

let given = 0;

/**
 * A pair of RSA keys of 2048 bits for signatures of tests, which protect nothing: making one takes a tenth of a second
 * of a processor. Twelve in a row differ.
 */
export function nextRsaKeys(): { privateKey: KeyObject; publicKey: KeyObject } {
  const key = keys[given++ % keys.length] ?? {};
  const privateKey = createPrivateKey({ key, format: "jwk" });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
