import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * Who signs the images of a group and of all below it. `keys`: a list of SignerKey, `keyless` and `x509`: messages,
     * each as proto3 JSON; `times`: a list of numbers of SignatureTime. `version`: another one for each content by
     * which signatures are verified.
     */
    signers: {
      uid: string;
      parent: string;
      name: string;
      description: string;
      keys: string;
      keyless: string | null;
      x509: string | null;
      require_log: number;
      times: string;
      version: string;
      create_time: number;
      update_time: number;
    };
    /**
     * A signer was made, changed or deleted: what is attached in the repos below its `parent` is to be verified anew,
     * after the place of signature_sources that was reached.
     */
    signer_checks: {
      signer: string;
      parent: string;
      repo: string;
      subject: string;
      manifest: string;
      create_time: number;
    };
    /**
     * By which authorities and logs identities are verified. `trusted_root`: that of Sigstore as JSON; empty with
     * `tuf`, a message as proto3 JSON. `state`, `message` and `refresh_time` are those of its tuf_copies.
     */
    trust_roots: {
      uid: string;
      parent: string;
      name: string;
      trusted_root: string;
      tuf: string | null;
      log_threshold: number | null;
      sct_threshold: number | null;
      timestamp_threshold: number | null;
      state: number;
      message: string;
      refresh_time: number | null;
      create_time: number;
      update_time: number;
    };
    /**
     * What was fetched from a mirror of TUF for a trust root; for that of the settings with an empty name. `source`:
     * a hash of the mirror and the root that is trusted from the beginning. `metadata`: a TufMetadata as JSON, and
     * `trusted_root` the target; both empty before anything was fetched. `expire_time`: when the first of the metadata
     * expires. `next_time`: when it is due.
     */
    tuf_copies: {
      trust_root: string;
      source: string;
      url: string;
      root: string;
      interval_ms: number;
      metadata: string;
      trusted_root: string;
      expire_time: number | null;
      refresh_time: number | null;
      next_time: number;
      state: number;
      message: string;
    };
    /** By which trusted root was verified last: the one of the settings, whose name is empty. */
    signature_roots: { name: string; hash: string };
    /**
     * Which manifest with signatures was attached to which digest of a repo, and when. `until_time`: null as long as it
     * is. `via`: empty for a referrer, else the name of the tag. `attached_by`: who pushed it; empty when that is not
     * known.
     */
    signature_sources: {
      repo: string;
      subject: string;
      manifest: string;
      via: string;
      from_time: number;
      until_time: number | null;
      attached_by: string;
    };
    /**
     * The verification of a manifest with signatures, as one about the subject, whatever the number of repos in which
     * it is attached: a queue, see work/queue.ts. `first_time`: when it was read first; null before. `signers`: against
     * whom it was verified, a JSON object of [version, since when] by uid. `readers`: the version of the verification.
     * `urgent`: 1 where somebody waits for it.
     */
    signature_readings: {
      subject: string;
      manifest: string;
      state: number;
      attempts: number;
      reason: string;
      holder: string;
      hold_until: number;
      create_time: number;
      finish_time: number | null;
      first_time: number | null;
      signers: string;
      readers: number;
      urgent: Generated<number>;
    };
    /**
     * A signature in such a manifest; `n`: the number of its layer. `format`, `time_source` and `code` are those of the
     * API. `code` and `reason`: what is wrong with it whoever made it; 0 and empty when nothing is. `identity`: what it
     * says of its maker. `claims`: what rules may ask of it, as JSON; empty for what nobody has made whom a signer
     * names, null for what was verified before they were kept, and waits to be verified again.
     */
    signature_entries: {
      subject: string;
      manifest: string;
      n: number;
      format: number;
      predicate_type: string;
      identity: string;
      signed_time: number | null;
      time_source: number;
      code: number;
      reason: string;
      claims: string | null;
    };
    /**
     * Which signatures the images of a group and of all below it need. `actions`: a list of numbers of SignatureAction;
     * `rules`: a list of SignatureRule as proto3 JSON; `document_signers`: a list of uids.
     */
    signature_policies: {
      uid: string;
      parent: string;
      name: string;
      description: string;
      mode: number;
      actions: string;
      repo_pattern: string;
      tag_pattern: string;
      each_platform: number;
      rules: string;
      since: number | null;
      hold_tags: number;
      document_signers: string;
      create_time: number;
      update_time: number;
    };
    /** Images that pass a policy, its `parent`, until then. Exactly one of `digest` and `tag` is not empty. */
    signature_exemptions: {
      uid: string;
      parent: string;
      repo: string;
      digest: string;
      tag: string;
      reason: string;
      expire_time: number;
      creator: string;
      create_time: number;
    };
    /**
     * A number for each group that grows whenever something changes there by which images are judged: policies, their
     * exemptions, signers. With an empty `parent`: for all policies of the installation, there since the first one.
     */
    signature_policy_changes: { parent: string; value: number };
    /** What events were emitted last of what policies make of an image: see gate_events. */
    signature_gate_events: {
      repo: string;
      digest: string;
      action: string;
      mode: string;
      hash: string;
      time: number;
    };
    /**
     * What a signature is worth by a signer who has made it, from when until when: there is none by signers who have
     * not. `state` and `code` are those of the API. `fingerprint`: of the key. What ended is kept.
     */
    signature_verdicts: {
      subject: string;
      manifest: string;
      n: number;
      signer: string;
      from_time: number;
      until_time: number | null;
      state: number;
      code: number;
      reason: string;
      fingerprint: string;
    };
    /**
     * What authorities say of certificates of signatures, of which `issuer` has issued `certificate`: fingerprints, and
     * their DER in base64. `host`: who is asked. `state`: see STATUS_STATE. `from_time`, `until_time`: when the last
     * answer counts. `revoke_time`: when it was revoked; `since_time`: since when somebody else may have the key, null
     * where that is not said. `failed_time`: since when asking fails, null where it does not; `message`: why;
     * `attempts`: how often. `next_time`: when it is asked about again. `check_time`: not null where what depends on it
     * is to be verified anew, after that place of certificate_status_uses.
     */
    certificate_statuses: {
      certificate: string;
      issuer: string;
      certificate_der: string;
      issuer_der: string;
      name: string;
      host: string;
      state: number;
      from_time: number | null;
      until_time: number | null;
      since_time: number | null;
      revoke_time: number | null;
      failed_time: number | null;
      message: string;
      attempts: number;
      next_time: number;
      check_time: number | null;
      check_subject: string;
      check_manifest: string;
    };
    /** On which certificates the verification of a manifest depends, as one with signatures of the subject. */
    certificate_status_uses: { subject: string; manifest: string; certificate: string; issuer: string };
  }
}

export const TRUST_TABLES = declareTables({
  signers: {
    key: ["uid"],
    weight: "length(description) + length(keys) + coalesce(length(keyless), 0) + coalesce(length(x509), 0)",
  },
  trust_roots: { key: ["uid"], weight: "length(trusted_root) + coalesce(length(tuf), 0)" },
  tuf_copies: { key: ["trust_root"], weight: "length(root) + length(metadata) + length(trusted_root)" },
  signature_roots: { key: ["name"] },
  signature_policies: { key: ["uid"], weight: "length(description) + length(rules)" },
  signature_exemptions: { key: ["uid"], weight: "length(reason)" },
  signature_policy_changes: { key: ["parent"] },
  signature_gate_events: { key: ["repo", "digest", "action"] },
  signer_checks: { key: ["signer"] },
  signature_sources: { key: ["repo", "subject", "manifest", "from_time"] },
  signature_readings: { key: ["subject", "manifest"], weight: "length(reason) + length(signers)" },
  signature_entries: {
    key: ["subject", "manifest", "n"],
    weight: "length(reason) + length(identity) + coalesce(length(claims), 0)",
  },
  signature_verdicts: { key: ["subject", "manifest", "n", "signer", "from_time"], weight: "length(reason)" },
  certificate_statuses: {
    key: ["certificate", "issuer"],
    weight: "length(certificate_der) + length(issuer_der) + length(name) + length(message)",
  },
  certificate_status_uses: { key: ["subject", "manifest", "certificate", "issuer"] },
});
