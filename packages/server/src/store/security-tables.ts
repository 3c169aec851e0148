import type { Generated } from "kysely";

/** The tables of security data. Columns have the types that tables.ts says. */
export interface SecurityTables {
  /**
   * `aliases` and `severities` are JSON lists. `latest_type`: the type of the latest approved event that v2 shows,
   * 0 without one. A deleted advisory keeps its row and its events.
   */
  advisories: {
    uid: string;
    parent: string;
    advisory_id: string;
    author: string;
    artifact_name: string;
    artifact_type: string;
    artifact_architecture: string;
    component_name: string;
    component_location: string;
    component_type: string;
    aliases: string;
    legacy_advisory_id: string;
    severities: string;
    origin: string;
    latest_type: number;
    create_time: number;
    update_time: number;
    delete_time: number | null;
  };
  /**
   * `type`: the number of the EventTypeFilter; `content`: the oneof `type` as proto3 JSON; `findings` is base64, empty
   * for none.
   */
  advisory_events: {
    uid: string;
    parent: string;
    type: number;
    content: string;
    findings: string;
    issue: string;
    author: string;
    reviewer: string;
    review_state: number;
    review_time: number | null;
    create_time: number;
  };
  /**
   * The aliases of an advisory in lower case. `subject`: the SHA-256 of its group, artifact and component, in hex: one
   * subject has an alias once. A deleted advisory has no rows.
   */
  advisory_aliases: { advisory: string; alias: string; subject: string };
  /**
   * What an advisory said by its latest approved event, from `from_time` until `until_time`, null while it does: times
   * are milliseconds since 1970. The columns of the advisory and of the event are those of then.
   */
  advisory_decisions: {
    advisory: string;
    from_time: number;
    until_time: number | null;
    event: string;
    event_time: number;
    type: number;
    content: string;
    advisory_id: string;
    artifact_name: string;
    artifact_type: string;
    artifact_architecture: string;
    component_name: string;
    component_location: string;
    component_type: string;
  };
  /** The ids of the vulnerability of a decision, in lower case. `parent`: the group of the advisory. */
  advisory_decision_ids: { parent: string; alias: string; advisory: string; from_time: number };
  /**
   * The ends of what an advisory is searched by, in lower case: a text contains another if one of its ends begins with
   * it. A deleted advisory has no rows.
   */
  advisory_suffixes: { organization: string; suffix: string; advisory: string };
  /**
   * What is known about the content of an image, by its digest, whatever the number of repos that hold it. `state`: 1
   * waiting, 2 done, 3 failed. `backlog`: 1 for an image from before there were catalogues. `reason`: why the last
   * attempt failed, or empty. `holder`: the process that reads it, until `hold_until` in milliseconds of the agreed
   * time. `unread`: a JSON list of files that were not read, with why. `incomplete`: 1 when a part of the image could
   * not be read, or no package was found in it. `finish_time`: null while it waits.
   */
  image_catalogs: {
    digest: string;
    state: number;
    backlog: number;
    attempts: number;
    reason: string;
    holder: string;
    hold_until: number;
    os_id: string;
    os_version: string;
    os_name: string;
    unread: string;
    create_time: number;
    finish_time: number | null;
    readers: Generated<number>;
    rereads: Generated<number>;
    incomplete: Generated<number>;
  };
  /**
   * A package that an image holds. `id`: the first half of the SHA-256 of all other columns, in hex, so that each is
   * stored once. `ecosystem`: the type of the purl, for a distribution's package with its release: `deb/debian-12`.
   * `source_name` and `source_version`: the source package; the package itself where an ecosystem has none. `matched`:
   * since when it is compared with all records, in milliseconds since 1970; null while it waits for that.
   */
  packages: {
    id: string;
    ecosystem: string;
    source_name: string;
    source_version: string;
    purl: string;
    name: string;
    version: string;
    licence: string;
    matched: number | null;
  };
  /** The look-ups of a package, whose records are compared with the version; see `lookupsOf`. */
  package_keys: { key: string; package: string; version: string };
  /**
   * That a record affects a package, whichever images hold it: from `opened`, in milliseconds since 1970, until
   * `closed`, null while it does. Rows are only added and closed, and go with their package. `since`: when it was
   * opened first, if the row follows one that was closed at `opened` because the record says something else now.
   * `change` and `modified`: the state of the record that opened it. `state`: a FixState. `fixed` and `last_affected`
   * are JSON lists of versions, in their order. Reasons: see OpenReason and CloseReason; empty while it is open.
   */
  package_findings: {
    package: string;
    feed: string;
    record: string;
    change: number;
    modified: number;
    opened: number;
    since: number;
    closed: number | null;
    reason_opened: string;
    reason_closed: string;
    state: string;
    fixed: string;
    last_affected: string;
  };
  /**
   * Why findings of images may have changed: see CauseKind. `scope`: the group or repo at and below which; empty for
   * all. `position`: up to which digest the images were found.
   */
  finding_causes: {
    id: string;
    kind: string;
    subject: string;
    scope: string;
    position: string;
    create_time: number;
  };
  /**
   * Images whose findings are to be compared with what was emitted of them. `mark`: another one for each new reason, so
   * that who has looked at an image ends only the wait that it saw.
   */
  finding_checks: { digest: string; repo: string; mark: string; create_time: number };
  /** The findings of an image that were open when events of it were emitted last, as `differences` writes them. */
  finding_notices: { repo: string; digest: string; open: string; update_time: number };
  /**
   * How far the comparison of packages and records has come. `changes`: up to this change number, and in `position`
   * (JSON, or empty) up to where in the next one; `packages`: `position` is that in the package whose comparison began.
   * `statements`: a number that grows when statements of feeds change, and the position in a feed that is restated.
   * `scans`: up to which event tags were looked at for what is to be scanned.
   */
  matching: { name: string; value: number; position: string };
  /**
   * Which image holds which package. `source`: who says so: `layers`, our reading of them; `<manifest>/<n>`, an
   * attached document, which counts only in repos where it is attached; or `scan/<uid>`, the report of a scanner. `n`
   * counts from 0 for a digest and a source, in the order of paths. `reader`: see Component.
   */
  image_packages: {
    digest: string;
    source: string;
    n: number;
    package: string;
    layer: string;
    path: string;
    reader: string;
  };
  /**
   * Java archives that are not identified, by the numbers they have in image_packages with the source `layers`.
   * `clues`: what they say of themselves, see ArchiveClues.
   */
  image_archives: { digest: string; source: string; n: number; clues: string };
  /** The names that artifacts such an archive may be have. */
  image_archive_names: { artifact: string; digest: string; source: string; n: number };
  /**
   * What is attached to the digest in the repo is to be looked at, because it may have changed: a row for each reason,
   * so that two pushes never write the same one. `backlog`: 1 for what was there before there were attachments.
   */
  attachment_checks: { id: string; repo: string; digest: string; backlog: number; create_time: number };
  /**
   * Which manifest was attached to which digest of a repo, and when. `until_time`: null as long as it is. `via`: empty
   * for a referrer, the name of the tag, or the digest of the index that names both. `attached_by`: who pushed or
   * tagged it; empty when that is not known. `trusted`: 1 if that identity held CAP_ADVISORIES_CREATE on the repo's
   * group then; what is not trusted is a claim.
   */
  attachments: {
    repo: string;
    subject: string;
    manifest: string;
    via: string;
    from_time: number;
    until_time: number | null;
    attached_by: Generated<string>;
    trusted: Generated<number>;
  };
  /**
   * The reading of an attached manifest as one about the subject, whatever the number of repos in which it is attached.
   * The columns are those of image_catalogs.
   */
  attached_readings: {
    subject: string;
    manifest: string;
    state: number;
    attempts: number;
    reason: string;
    holder: string;
    hold_until: number;
    create_time: number;
    finish_time: number | null;
  };
  /**
   * What was read in a layer of an attached manifest. `n`: which layer, from 0. `kind`: `cyclonedx`, `spdx`, `openvex`
   * or `csaf`; empty when it is not known. `reason`: why it does not count; empty when it does. `time`: when the
   * document says it was made, in milliseconds since 1970; 0 when it says nothing. `packages`: the number of its
   * packages, which are in image_packages with the source `<manifest>/<n>`; `statements`: that of its rows in
   * attached_statements. `document_id` and `author` are those of a VEX document. `passed_over`: how many of its
   * statements are not among these, since they are about something else.
   */
  attached_documents: {
    subject: string;
    manifest: string;
    n: number;
    layer: string;
    media_type: string;
    kind: string;
    reason: string;
    time: number;
    packages: number;
    statements: number;
    document_id: string;
    author: string;
    passed_over: Generated<number>;
  };
  /**
   * By which references other documents link to the components of an attached CycloneDX document, where these are not
   * package URLs themselves. The document is that with the serial number `attached_documents.document_id`.
   */
  attached_refs: { subject: string; manifest: string; n: number; ref: string; purl: string };
  /**
   * The first of the statements of an attached document that are not about the subject or a package. `ids`: as those of
   * attached_statements. `product`: as the document names it. `reason`: in words.
   */
  attached_passed_over: {
    subject: string;
    manifest: string;
    n: number;
    i: number;
    ids: string;
    status: string;
    product: string;
    reason: string;
  };
  /**
   * What an attached VEX document says of vulnerabilities in the subject. `i` counts from 0 in the document. `ids`: a
   * JSON list in lower case. `target`: the purl of the package, empty for the whole image. `time`: of the statement, in
   * milliseconds since 1970. They hold in repos, and for as long, as the manifest is attached there.
   */
  attached_statements: {
    subject: string;
    manifest: string;
    n: number;
    i: number;
    ids: string;
    status: string;
    justification: string;
    impact: string;
    target: string;
    product: string;
    time: number;
    remedies: Generated<string>;
  };
  /**
   * Adapters that scan the images of a group and of all below it. `credential`: the value of the Authorization header
   * that the adapter wants, sealed; empty for none. `adapter`: a ScannerAdapter as proto3 JSON, of `check_time`.
   * `identity`: with whose rights the adapter pulls.
   */
  scanners: {
    uid: string;
    parent: string;
    name: string;
    description: string;
    url: string;
    credential: string;
    disabled: number;
    on_request_only: number;
    adapter: string | null;
    check_time: number | null;
    identity: string;
    create_time: number;
    update_time: number;
  };
  /**
   * What a scanner says of an image of a repo, its `parent`. `type` and `state` are those of the API. `holder`: the
   * process that has it scanned, until `hold_until` in milliseconds of the agreed time; without a holder, when it is
   * due. `software` and `counts` are proto3 JSON, null without a report; they and the columns `report_…` are of the
   * last report, whatever the state is since. `packages`: the number of its packages, which are in image_packages with
   * the source `scan/<uid>`; 0 while they are written.
   */
  scans: {
    uid: string;
    parent: string;
    scanner: string;
    scanner_name: string;
    digest: string;
    type: number;
    state: number;
    reason: string;
    attempts: number;
    holder: string;
    hold_until: number;
    software: string | null;
    counts: string | null;
    report_mime_type: string;
    report_size: number;
    packages: number;
    request_time: number;
    start_time: number | null;
    report_time: number | null;
  };
  /** The last report of a scan as the adapter sent it, compressed by gzip. */
  scan_reports: { scan: string; content: Uint8Array };
  /**
   * Sources of records on vulnerabilities and products. `origin`: `file` for those of MOORAGE_FEEDS_FILE, `command` for
   * the others. `products` is a JSON list. `run`: the import that may write. `newest`: the newest `modified` that was
   * read; `full_time`: when the last complete one ended. `error`: why the last attempt failed, empty when it did not.
   * `restate`: a mark of a change of `products`, until feed_statements follows it; empty otherwise. `coverage`: a JSON
   * list of `{space, records}`, how many records are about the packages of an ecosystem and release, and `unmatched`:
   * how many records can match nothing, in part or as a whole; both null until an import has read all of the feed.
   * `request_time`: when it was last asked to be fetched before it is due. `delete_time`: since when it is being
   * removed; null for all others. `covers`: a JSON list of the ecosystems and releases that it covers by the word of
   * whoever set it.
   */
  feeds: {
    name: string;
    format: string;
    address: string;
    licence: string;
    interval_ms: number;
    products: string;
    origin: string;
    run: string;
    etag: string;
    last_modified: string;
    newest: number | null;
    records: number;
    withdrawn: number;
    problems: number;
    coverage: string | null;
    unmatched: number | null;
    request_time: number | null;
    delete_time: number | null;
    covers: Generated<string>;
    attempt_time: number | null;
    success_time: number | null;
    full_time: number | null;
    duration_ms: number | null;
    error: string;
    create_time: number;
    restate: string;
    statements: Generated<number>;
    statements_unmatched: Generated<number>;
  };
  /** The first statements of a feed's last import that were about nothing here, as attached_passed_over has them. */
  feed_unmatched: {
    feed: string;
    n: number;
    record: string;
    ids: string;
    status: string;
    product: string;
    reason: string;
  };
  /**
   * What feeds say. `score_tenths`: CVSS in tenths. A record that its feed no longer has keeps its row, with `removed`
   * 1 and no body. `change`: from the counter of feed_changes; a record gets a new number whenever its row changes.
   */
  feed_records: {
    feed: string;
    id: string;
    modified: number;
    withdrawn: number | null;
    removed: number;
    hash: string;
    severity: string;
    score_tenths: number | null;
    body: string;
    change: number;
  };
  /**
   * What records are found by. `kind`: `id` and `alias` (ids of the vulnerability, in lower case, as this feed asserts
   * them), `upstream` (ids of vulnerabilities that the record is about in its own packages, in lower case), `former`
   * (the same of a record that is removed and has findings), `about` (ids of vulnerabilities that a document mentions,
   * in lower case), `package`, `product`.
   */
  feed_keys: { kind: string; key: string; feed: string; record: string };
  /**
   * What documents of feeds say about products that their feed may decide about, from `from_time` until `until_time`,
   * in milliseconds since 1970; null while they do. Rows are only added and closed. `n` counts from 0 for a record.
   * `since`: since when it says the same, if the row follows one that differs in words or times. `ids`: a JSON list in
   * lower case. `product`, `component`, `time`: see VexStatement. `key`: see feed_statement_keys.
   */
  feed_statements: {
    feed: string;
    record: string;
    n: number;
    from_time: number;
    until_time: number | null;
    since: number;
    hash: string;
    ids: string;
    status: string;
    justification: string;
    impact: string;
    product: string;
    component: string;
    key: string;
    author: string;
    time: number;
    remedies: Generated<string>;
  };
  /** What statements are found by: the product (see productKeyOf) and each id of the vulnerability. */
  feed_statement_keys: { key: string; vulnerability: string; feed: string; record: string; n: number };
  /**
   * What the last import could not read (`kind` is UNREADABLE), and what it read and nothing can match (UNMATCHED), the
   * first of each. `record` is empty when the id is not known.
   */
  feed_problems: { feed: string; n: number; record: string; position: string; message: string; kind: string };
  /** One row: the last change number that was given. */
  feed_changes: { name: string; value: number };
}
