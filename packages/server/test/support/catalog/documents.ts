// Documents that are attached to images, and their envelopes.

/** A CycloneDX document of packages of npm. */
export function cycloneDx(names: readonly string[], more: object = {}): string {
  return JSON.stringify({
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    components: names.map((name) => ({
      type: "library",
      name,
      version: "1.0.0",
      purl: `pkg:npm/${encodeURIComponent(name)}@1.0.0`,
    })),
    ...more,
  });
}

/** An SPDX document of packages of npm. */
export function spdx(names: readonly string[], more: object = {}): string {
  return JSON.stringify({
    spdxVersion: "SPDX-2.3",
    packages: names.map((name) => ({
      name,
      versionInfo: "1.0.0",
      externalRefs: [
        { referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: `pkg:npm/${name}@1.0.0` },
      ],
    })),
    ...more,
  });
}

/** An in-toto statement about a digest. Source: in-toto/attestation, spec/v1/statement.md. */
export function statementOf(predicateType: string, document: string, digest: string): string {
  const [algorithm = "", hex] = digest.split(":");
  return JSON.stringify({
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: "app", digest: { [algorithm]: hex } }],
    predicateType,
    predicate: JSON.parse(document) as unknown,
  });
}

/** A DSSE envelope. Source: secure-systems-lab/dsse, envelope.md. */
export function dsse(statement: string): string {
  return JSON.stringify({
    payloadType: "application/vnd.in-toto+json",
    payload: Buffer.from(statement).toString("base64"),
    signatures: [{ sig: "bm8=" }],
  });
}

/** A Sigstore bundle around a DSSE envelope. Source: sigstore/protobuf-specs, bundle. */
export function bundle(statement: string): string {
  return JSON.stringify({
    mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
    verificationMaterial: {},
    dsseEnvelope: JSON.parse(dsse(statement)) as unknown,
  });
}
