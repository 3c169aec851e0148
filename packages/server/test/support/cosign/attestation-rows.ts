// Attestations: which predicate, by whom, and that none is a signature of the image.
import { envelopeBundle, inToto, PROVENANCE, pushReferrer } from "../signing.ts";
import { agree, asBundle, attest, differ, verify, verifyAttestation } from "./asks.ts";
import type { Row } from "./rows.ts";

const signer = { keys: ["p256"] } as const;
const SBOM = "https://cyclonedx.org/bom";
const bom = { bomFormat: "CycloneDX", specVersion: "1.6", components: [] };
const provenance = {
  buildDefinition: { buildType: "https://example.com/build", externalParameters: {} },
  runDetails: { builder: { id: "https://example.com/builder" } },
};
const OWN = "https://example.com/reviewed/v1";

export const ATTESTATION_ROWS: readonly Row[] = [
  ...(["tag", "bundle"] as const).flatMap((form) => [
    agree(`sbom-${form}`, `an SBOM, as a ${form}`, true, {
      attach: attest("p256", form, "cyclonedx", bom),
      signer,
      rule: { predicateType: SBOM },
      ask: verifyAttestation("p256", "cyclonedx"),
    }),
    agree(`provenance-${form}`, `provenance, as a ${form}`, true, {
      attach: attest("p384", form, "slsaprovenance1", provenance),
      signer: { keys: ["p384"] },
      rule: { predicateType: PROVENANCE },
      ask: verifyAttestation("p384", "slsaprovenance1"),
    }),
    agree(`own-${form}`, `a predicate of one's own, as a ${form}`, true, {
      attach: attest("rsa2048", form, OWN, { reviewed: true }),
      signer: { keys: ["rsa2048"] },
      rule: { predicateType: OWN },
      ask: verifyAttestation("rsa2048", OWN),
    }),
    agree(`other-predicate-${form}`, `another predicate than the one asked for, as a ${form}`, false, {
      attach: attest("p256", form, "cyclonedx", bom),
      signer,
      rule: { predicateType: PROVENANCE },
      ask: verifyAttestation("p256", "slsaprovenance1"),
    }),
    agree(`attested-by-other-${form}`, `attested with another key, as a ${form}`, false, {
      attach: attest("other", form, "cyclonedx", bom),
      signer,
      rule: { predicateType: SBOM },
      ask: verifyAttestation("p256", "cyclonedx"),
    }),
  ]),
  agree("signature-as-attestation", "a signature of the image, where an attestation is asked for", false, {
    attach: asBundle("p256"),
    signer,
    rule: { predicateType: PROVENANCE },
    ask: verifyAttestation("p256", "slsaprovenance1"),
  }),
  agree("attestation-as-signature-tag", "an attestation as a tag, where a signature is asked for", false, {
    attach: attest("p256", "tag", "cyclonedx", bom),
    signer,
    ask: verify("p256"),
  }),
  differ(
    "attestation-as-signature-bundle",
    "an attestation as a bundle, where a signature is asked for",
    "whoever attests what is in an image does not say that it may be used; cosign 3 takes any statement about it as its signature",
    {
      attach: attest("p256", "bundle", "cyclonedx", bom),
      signer,
      ask: verify("p256"),
      cosign: true,
    },
  ),
  agree("attested-other-image", "an attestation about another image, attached to this one", false, {
    attach: (s) =>
      pushReferrer(
        s.repo,
        s.digest,
        envelopeBundle(s.keys.p256, inToto(s.digest.replace(/.{8}$/, "00000000"), PROVENANCE)),
      ),
    signer,
    rule: { predicateType: PROVENANCE },
    ask: verifyAttestation("p256", "slsaprovenance1"),
  }),
  agree("several-subjects", "a statement about several images, of which this is one", true, {
    attach: (s) => {
      const statement = JSON.parse(inToto(s.digest, PROVENANCE)) as { subject: object[] };
      statement.subject.unshift({ name: "another", digest: { sha256: "0".repeat(64) } });
      return pushReferrer(s.repo, s.digest, envelopeBundle(s.keys.p256, JSON.stringify(statement)));
    },
    signer,
    rule: { predicateType: PROVENANCE },
    ask: verifyAttestation("p256", "slsaprovenance1"),
  }),
];
