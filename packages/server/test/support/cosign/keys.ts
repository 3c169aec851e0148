import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { SigningKey } from "../signing.ts";
import type { KeyName, Pems } from "./rows.ts";

const pair = ({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }): SigningKey => ({
  privateKey,
  pem: publicKey.export({ type: "spki", format: "pem" }).toString(),
});
const onCurve = (namedCurve: string): SigningKey => pair(generateKeyPairSync("ec", { namedCurve }));
const rsa = (modulusLength: number): SigningKey => pair(generateKeyPairSync("rsa", { modulusLength }));

/** New key pairs of every kind that is signed with. */
export function newKeys(): Record<KeyName, SigningKey> {
  return {
    p256: onCurve("P-256"),
    p384: onCurve("P-384"),
    p521: onCurve("P-521"),
    rsa2048: rsa(2_048),
    rsa4096: rsa(4_096),
    ed25519: pair(generateKeyPairSync("ed25519")),
    old: onCurve("P-256"),
    other: onCurve("P-256"),
  };
}

/** The public keys of these pairs. */
export function pemsOf(keys: Readonly<Record<KeyName, SigningKey>>): Pems {
  return Object.fromEntries(Object.entries(keys).map(([name, { pem }]) => [name, pem])) as Record<KeyName, string>;
}
