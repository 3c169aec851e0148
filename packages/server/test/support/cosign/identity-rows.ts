// What jobs of a CI have signed by a certificate: whose it is, and by which log or time stamp it holds.
import type { BundleOptions, Job } from "../keyless-signing.ts";
import { COSIGN_SIGN, cosignPayload, inToto, newKey, pushCosign, pushReferrer, SIMPLE_SIGNING } from "../signing.ts";
import { agree, differ } from "./asks.ts";
import type { Row, Signing } from "./rows.ts";

const ISSUER = "https://token.actions.example.com";
const WORKFLOW = "https://github.example.com/acme/app/.github/workflows/release.yml@refs/tags/v1";
const JOB: Job = { subject: WORKFLOW, issuer: ISSUER };
const keyless = { issuer: ISSUER, subject: WORKFLOW };
const signer = { keyless };

const verify = (...flags: string[]): string[] => [
  "verify",
  "--trusted-root",
  "sigstore.json",
  "--allow-http-registry",
  ...flags,
];
const ask = verify("--certificate-identity", WORKFLOW, "--certificate-oidc-issuer", ISSUER);
const byPattern = (pattern: string): Pick<Row, "signer" | "ask"> => ({
  signer: { keyless: { issuer: ISSUER, subjectPattern: pattern } },
  ask: verify("--certificate-identity-regexp", pattern, "--certificate-oidc-issuer", ISSUER),
});

/** A job signs the image, as a bundle. */
const bundle =
  (options: BundleOptions = {}, job: Partial<Job> = {}, by: "sigstore" | "stranger" = "sigstore"): Row["attach"] =>
  async (s) =>
    pushReferrer(s.repo, s.digest, await s[by].bundle({ ...JOB, ...job }, inToto(s.digest, COSIGN_SIGN), options));

/** The same in annotations, as cosign 2 has it, with some of them changed. */
const tag =
  (change: (s: Signing, payload: string) => Promise<Record<string, string>> = async () => ({})): Row["attach"] =>
  async (s) => {
    const payload = cosignPayload(s.digest);
    const annotations = { ...(await s.sigstore.cosignAnnotations(JOB, payload)), ...(await change(s, payload)) };
    return pushCosign(s.repo, s.digest, [{ mediaType: SIMPLE_SIGNING, content: payload, annotations }]);
  };

const row = (attach: Row["attach"]): Pick<Row, "attach" | "signer" | "ask"> => ({ attach, signer, ask });

export const IDENTITY_ROWS: readonly Row[] = [
  agree("job-bundle", "a job, as a bundle with an entry of the log", true, row(bundle())),
  agree("job-tag", "a job, as a tag with an entry of the log", true, row(tag())),
  agree("job-issuer", "a job of another issuer", false, row(bundle({}, { issuer: `${ISSUER}.evil.example` }))),
  agree("job-subject", "another job", false, row(bundle({}, { subject: WORKFLOW.replace("release", "test") }))),
  agree("job-pattern", "a job whose identity matches a pattern as a whole", true, {
    attach: bundle(),
    ...byPattern("https://github\\.example\\.com/acme/.*"),
  }),
  agree("job-other-pattern", "a job whose identity does not match the pattern", false, {
    attach: bundle(),
    ...byPattern("https://github\\.example\\.com/other/.*"),
  }),
  differ(
    "job-part",
    "a job whose identity holds what matches the pattern",
    "patterns are of the whole identity, so that nobody has one that only holds yours; cosign looks for a match anywhere in it",
    {
      attach: bundle(),
      ...byPattern("github\\.example\\.com/acme/app"),
      cosign: true,
    },
  ),
  agree("job-stranger", "a certificate of another authority for the same job", false, row(bundle({}, {}, "stranger"))),
  agree(
    "log-missing",
    "without an entry of the log, with a time stamp",
    false,
    row(bundle({ withLog: false, withTimestamp: true })),
  ),
  agree("time-missing", "without a log and a time stamp", false, row(bundle({ withLog: false }))),
  agree(
    "log-without-time",
    "in the log, which says no time, without a time stamp",
    false,
    row(bundle({ withPromise: false })),
  ),
  agree(
    "log-and-stamp",
    "in the log, which says no time, with a time stamp",
    true,
    row(bundle({ withPromise: false, withTimestamp: true })),
  ),
  agree(
    "certificate-ended",
    "with a certificate that had ended by the time of the log",
    false,
    row(bundle({ isLate: true })),
  ),
  agree("log-other-key", "with an entry of the log by another key", false, row(bundle({ loggedKey: newKey().pem }))),
  agree(
    "log-other-entry",
    "with the log's entry of another signature",
    false,
    row(async (s) => {
      const statement = inToto(s.digest, COSIGN_SIGN);
      const [one, two] = await Promise.all([s.sigstore.bundle(JOB, statement), s.sigstore.bundle(JOB, statement)]);
      const [own, other] = [one, two].map(
        (text) => JSON.parse(text) as { verificationMaterial: { tlogEntries: unknown } },
      );
      if (own === undefined || other === undefined) throw new Error("two were made");
      own.verificationMaterial.tlogEntries = other.verificationMaterial.tlogEntries;
      return pushReferrer(s.repo, s.digest, JSON.stringify(own));
    }),
  ),
  agree(
    "tag-log-missing",
    "as a tag, without an entry of the log",
    false,
    row(tag(async () => ({ "dev.sigstore.cosign/bundle": "" }))),
  ),
  agree(
    "tag-log-other-entry",
    "as a tag, with the log's entry of another signature",
    false,
    row(
      tag(async ({ sigstore }, payload) => {
        const other = await sigstore.cosignAnnotations(JOB, payload);
        return { "dev.sigstore.cosign/bundle": other["dev.sigstore.cosign/bundle"] ?? "" };
      }),
    ),
  ),
];
