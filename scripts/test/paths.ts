// Parts of the paths of test files, by what is to be done with the files.

/**
 * Journeys through the console in a real browser, which take both processors: they run when they are asked for, as by
 * `npm test -- console/test`.
 */
export const IN_BROWSER = "packages/console/test/";

/**
 * Inputs at their limits, each on a server of its own: they take minutes of both processors, and what they play depends
 * on no engine. `npm run test:nightly` runs them alone, by `npm test -- faults/heavy`; `npm run test:all` on SQLite.
 */
export const HEAVY = "packages/server/test/faults/heavy/";

/**
 * Tests that run on PostgreSQL in `npm test` too, since their result may depend on the engine: hand-written SQL,
 * isolation and collisions, the order of text. All others run there in `npm run test:all`.
 */
export const DEPENDS_ON_ENGINE = ["src/store/", "test/engines/", "test/events/queue", "test/registry/promotions"];

/**
 * Tests that take too long for `npm test`, which is to end within five minutes on a quiet machine of two processors:
 * processes that are killed again and again, lost databases, exports, backups and checks of whole installations,
 * imports of feeds, hostile archives, mirrors, packages that are built and installed, documents, programs and browsers
 * that a machine may have, the suite of v1 once more by other names, and most of what starts the command as a program.
 * A file belongs here when it takes more than about three seconds of a processor, unless it is about what every method
 * has in common, or the first thing that breaks.
 */
export const TAKES_LONG = [
  "test/faults/",
  "test/admin/backup",
  "test/admin/export-import",
  "test/admin/fsck",
  "test/admin/settings",
  "test/api/lists-during-writes",
  "test/api/response-cache",
  "test/auth/sign-in-browser",
  "test/engines/declarations",
  "test/engines/fresh-answers",
  "test/engines/lost-content",
  "test/engines/migrate",
  "test/engines/versions",
  "test/events/feed-model",
  "test/libraries/npm-client",
  "test/mirroring/mirroring",
  "test/mirroring/moving-in",
  "test/mirroring/processes",
  "test/mirroring/pull-through",
  "test/upstreams/hostile",
  "test/upstreams/mirror-host",
  "test/upstreams/pulls",
  "test/observe/logs",
  "test/observe/metrics",
  "test/observe/traces",
  "test/oci/blob-memory",
  "test/registry/garbage-collection",
  "test/registry/tag-ends",
  "test/security/advisory-exports",
  "test/security/attached-claims",
  "test/security/attached-sboms",
  "test/security/catalog-hostile",
  "test/security/feed-coverage",
  "test/security/feed-import",
  "test/security/feed-updates",
  "test/security/findings-faults",
  "test/security/findings-matching",
  "test/security/image-catalogs",
  "test/security/scan-retention",
  "test/security/security-fsck",
  "test/v1/aliases",
  "test/webhooks/many-sinks",
  "test/webhooks/processes",
  "cli/test/api.",
  "cli/test/apply-500",
  "cli/test/apply.",
  "cli/test/auth-configure",
  "cli/test/completion",
  "cli/test/config",
  "cli/test/credential",
  "cli/test/demo",
  "cli/test/docs.",
  "cli/test/exit-codes",
  "cli/test/export-import",
  "cli/test/feeds-on-server",
  "cli/test/feeds.",
  "cli/test/from-server",
  "cli/test/gc",
  "cli/test/import-from",
  "cli/test/kubelet-credential",
  "cli/test/login",
  "cli/test/machine-forms",
  "cli/test/mcp",
  "cli/test/memory",
  "cli/test/pack",
  "cli/test/personal-tokens",
  "cli/test/pull-token",
  "cli/test/pulls",
  "cli/test/push-token",
  "cli/test/remote",
  "cli/test/starts",
  "cli/test/tasks-events",
  "cli/test/tasks-images",
  "cli/test/tasks-tags",
  "cli/test/terminal.",
  "scripts/bundle/",
  "scripts/check-patterns",
  "src/lib/process-pool/",
  "cli/test/cli.",
  "cli/test/docker-configure",
  "cli/test/doctor-server",
  "cli/test/event-types",
  "cli/test/loading",
  "cli/test/output",
  "cli/test/private-authority",
  "cli/test/readme",
  "cli/test/serve-failures",
  "cli/test/tasks-why",
  "cli/test/terminal-progress",
  "src/lib/turns",
  "test/auth/accounts-change",
  "test/auth/attacks-",
  "test/auth/ci-tokens",
  "test/auth/escalation",
  "test/auth/personal-token-clients",
  "test/auth/sign-in-links",
  "test/events/pulls",
  "test/mirroring/gated-mirror",
  "test/oci/access",
  "test/oci/addresses",
  "test/oci/first-push",
  "test/oci/history",
  "test/oci/pull-cache",
  "test/oci/time-travel",
  "test/oci/uploads",
  "test/replication/hostile",
  "test/replication/interruptions",
  "test/replication/push",
  "test/replication/two-way-kills",
  "test/replication/two-ways",
  "test/trust/cosign-",
  "test/trust/hostile-pulls",
  "test/trust/hostile-signatures",
  "test/trust/notation-decisions",
  "test/trust/notation-signatures",
  "test/trust/online-revocation",
  "test/trust/signed-replicas",
  "test/trust/signed-worlds",
  "test/trust/tuf-roots",
  "test/upstreams/follow-kills",
  "test/upstreams/follow-replicas",
  "test/upstreams/kept-images",
  "test/libraries/content",
  "test/libraries/cooldown",
  "test/libraries/hostile",
  "test/libraries/images.",
  "test/libraries/long-fields",
  "test/libraries/upstreams",
  "test/security/advisories-admin",
  "test/security/advisory-findings",
  "test/security/feed-servers",
  "test/security/feed-vex",
  "test/security/gated-unknown",
  "test/security/scanners",
  "test/security/scans.",
  "test/security/signed-documents",
  "test/security/vex-referrers",
  "test/v1/documents",
  "test/v1/methods",
  "test/v1/sequences",
  "test/observe/audit",
  "server/src/transport/rpc/handler",
  "test/api/openapi-constraints",
  "scripts/gen/",
  "scripts/test/unit",
];

/**
 * What decides before a change lands whether it holds on PostgreSQL, beside what `npm test` runs there: the areas whose
 * commands and lists are SQL written by hand, what counts, orders and pages, what concurrent processes do, and what
 * reads or writes whole installations. All others pass the same statements through the same few functions: they run
 * there in `npm run test:nightly`.
 */
export const SQL_BY_HAND = [
  "test/admin/backup",
  "test/admin/export-import",
  "test/admin/fsck",
  "test/api/group-names",
  "test/api/large-pages",
  "test/api/lists.",
  "test/api/lists-of-many",
  "test/api/read-your-writes",
  "test/api/time-filters",
  "test/api/updates",
  "test/auth/access-explain.",
  "test/auth/account-associations",
  "test/auth/group-mappings",
  "test/auth/invites",
  "test/auth/last-owner",
  "test/auth/last-seen-times",
  "test/auth/permissions",
  "test/auth/refresh-tokens",
  "test/auth/revocation",
  "test/events/",
  "test/faults/replicas",
  "test/libraries/at-size",
  "test/libraries/block-list",
  "test/libraries/changes",
  "test/libraries/findings",
  "test/libraries/images",
  "test/libraries/policies.",
  "test/libraries/storage",
  "test/libraries/upstreams.",
  "test/mirroring/commands",
  "test/mirroring/processes",
  "test/oci/catalog",
  "test/oci/history",
  "test/oci/manifests",
  "test/registry/",
  "test/security/advisories-list",
  "test/security/advisory-findings",
  "test/security/attached-vex",
  "test/security/feed-coverage",
  "test/security/feed-import",
  "test/security/feed-updates",
  "test/security/feed-vex",
  "test/security/findings-",
  "test/security/gated-",
  "test/security/image-knowledge",
  "test/security/image-vex",
  "test/security/matching-records",
  "test/security/resolved-vulns",
  "test/security/scans.",
  "test/security/security-fsck",
  "test/upstreams/follow-replicas",
  "test/webhooks/deliveries",
];

/**
 * Files that `.ci/run` plays in other sections. What storms, races and servers that are killed at some points meet
 * depends on their share of the processors: their section runs fewer files concurrently. And packing takes a minute,
 * which a release does as well.
 */
export const IN_OTHER_SECTIONS = [
  "cli/test/import-from-folder-kills",
  "cli/test/import-from-kills",
  "cli/test/pack",
  "test/engines/fresh-answers",
  "test/faults/race",
  "test/faults/storm",
  "test/replication/two-way-kills",
  "test/upstreams/follow-kills",
];

/**
 * These take longest, so they start first, each in a process of its own. Commands follow, since they wait for their
 * processes, then other files that share a process, then the rest.
 */
export const FIRST = [
  "test/admin/export-import.",
  "cli/test/docs.",
  "test/engines/fresh-answers",
  "test/faults/",
  "test/webhooks/many-sinks",
  "test/api/lists-during-writes",
  "test/admin/fsck",
  "test/admin/backup",
];

/**
 * Files with a process of their own: those that end processes or take what all of them share, that change the state of
 * the whole process or measure it, or whose server belongs to a support module.
 */
export const OWN_PROCESS = [
  "test/faults/",
  "test/engines/",
  "cli/test/loading",
  "cli/test/pack",
  "cli/test/docs.",
  "packages/console/test/",
  "src/lib/process-pool/",
  "src/lib/program-file",
  "src/lib/release-memory",
  "src/lib/temp-folders",
  "test/events/types",
  "test/libraries/toy/",
  "test/oci/blob-memory",
  "test/oci/blobs",
  "test/oci/upload",
  "test/trust/tuf-roots",
  "scripts/bundle/",
  "scripts/test/unit",
];
