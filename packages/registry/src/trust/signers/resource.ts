import { createHash } from "node:crypto";
import { create, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  type SignatureTime,
  type Signer,
  type SignerIdentity,
  SignerIdentitySchema,
  type SignerKey,
  SignerKeySchema,
  type SignerCertificates,
  SignerCertificatesSchema,
  SignerSchema,
} from "@moorage/api/messages";
import { resource } from "@moorage/kernel/aip/resource";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import type { Row } from "@moorage/kernel/store";
import { publicKeyOf } from "./public-key.ts";

const LAYOUT = layoutOf(SignerSchema, { without: ["keys", "times"] });
const plainColumns = columnsOf(LAYOUT, "signers", ["name", "description", "keyless", "x509", "require_log"]);

/** The columns that an update can change, of a signer whose keys were checked. */
export function signerColumns(
  signer: Signer,
): Pick<Row<"signers">, "name" | "description" | "keyless" | "x509" | "require_log" | "keys" | "times" | "version"> {
  const plain = plainColumns(signer);
  const keys = JSON.stringify(signer.keys.map((key) => toJson(SignerKeySchema, withFingerprint(key))));
  const times = JSON.stringify([...new Set(signer.times)].sort());
  const { name: _name, description: _description, ...by } = { ...plain, keys, times };
  return { ...plain, keys, times, version: createHash("sha256").update(JSON.stringify(by)).digest("hex").slice(0, 32) };
}

function withFingerprint({ $typeName: _type, $unknown: _unknown, ...key }: SignerKey): SignerKey {
  return create(SignerKeySchema, { ...key, fingerprint: publicKeyOf(key.pem).fingerprint });
}

/** The keys of a row of signers. */
export function keysOf({ keys }: Pick<Row<"signers">, "keys">): SignerKey[] {
  return (JSON.parse(keys) as JsonValue[]).map((key) => fromJson(SignerKeySchema, key));
}

/** The identity of a row of signers; undefined for one with keys. */
export function keylessOf({ keyless }: Pick<Row<"signers">, "keyless">): SignerIdentity | undefined {
  return keyless === null ? undefined : fromJson(SignerIdentitySchema, JSON.parse(keyless) as JsonValue);
}

/** Who issues the certificates of a row of signers; undefined for one with keys or an identity. */
export function certificatesOf({ x509 }: Pick<Row<"signers">, "x509">): SignerCertificates | undefined {
  return x509 === null ? undefined : fromJson(SignerCertificatesSchema, JSON.parse(x509) as JsonValue);
}

/** By whose word the signer lets it be known when a signature was made. */
export function timesOf({ times }: Pick<Row<"signers">, "times">): SignatureTime[] {
  return JSON.parse(times) as SignatureTime[];
}

export const signers = resource({
  message: SignerSchema,
  table: "signers",
  toMessage: (row) => ({ ...LAYOUT.fieldsOf(row), keys: keysOf(row), times: timesOf(row) }),
  toRow: signerColumns,
});
