/**
 * What a certificate of Fulcio may say of a job, by its name there, in the form of DER strings. Source:
 * sigstore/fulcio, docs/oid-info.md.
 */
export const FULCIO_EXTENSIONS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    "build_signer_uri",
    "build_signer_digest",
    "runner_environment",
    "source_repository_uri",
    "source_repository_digest",
    "source_repository_ref",
    "source_repository_identifier",
    "source_repository_owner_uri",
    "source_repository_owner_identifier",
    "build_config_uri",
    "build_config_digest",
    "build_trigger",
    "run_invocation_uri",
    "source_repository_visibility_at_signing",
    "deployment_environment",
    // They are numbered in this order, from 9 on.
  ].map((name, at) => [name, `1.3.6.1.4.1.57264.1.${at + 9}`]),
);
