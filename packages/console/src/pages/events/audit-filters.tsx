import { useNavigate } from "@tanstack/react-router";
import type { Group } from "../../api/gen/iam.ts";
import { groupPath } from "../../lib/groups.ts";
import { localTime, timeOfLocal } from "../../lib/local-time.ts";
import { FilterChip } from "../../ui/filter-chip.tsx";
import { TextChip } from "../../ui/text-chip.tsx";
import { Toolbar } from "../../ui/toolbar.tsx";
import type { AuditSearch } from "./audit-query.ts";

const DECISIONS = [
  ["allowed", "allowed"],
  ["denied", "denied"],
] as const;
const HOUR_MS = 3_600_000;
const LAST: Readonly<Record<string, number>> = { "1 h": HOUR_MS, "24 h": 24 * HOUR_MS, "7 d": 168 * HOUR_MS };

export interface AuditFiltersProps {
  search: AuditSearch;
  groups: readonly Group[];
  /** What the server says of a field. */
  wrong: (name: string) => string | undefined;
}

/** What of the audit log is shown: each filter holds as soon as it is chosen or typed. */
export function AuditFilters({ search, groups, wrong }: AuditFiltersProps) {
  const navigate = useNavigate();
  const set = (change: AuditSearch): void =>
    void navigate({ to: "/audit", search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const since = search.since || undefined;
  return (
    <Toolbar>
      <FilterChip
        label="Group"
        none="everything that you can read"
        value={search.group || undefined}
        options={groups.map(({ uid }) => [uid, groupPath(uid, groups)])}
        onValue={(group) => set({ group: group ?? "" })}
      />
      <FilterChip
        label="Decision"
        none="allowed or denied"
        value={search.decision || undefined}
        options={DECISIONS}
        onValue={(decision) => set({ decision: decision ?? "" })}
      />
      <FilterChip
        label="Last"
        none="All times"
        value={undefined}
        options={Object.keys(LAST).map((each) => [each, each])}
        onValue={(last) => set({ since: new Date(Date.now() - (LAST[last ?? ""] ?? 0)).toISOString(), until: "" })}
      />
      <TextChip
        label="From"
        type="datetime-local"
        value={localTime(since)}
        error={wrong("since")}
        onText={(text) => set({ since: timeOfLocal(text ?? null) ?? "" })}
      />
      <TextChip
        label="Before"
        type="datetime-local"
        value={localTime(search.until)}
        error={wrong("until")}
        onText={(text) => set({ until: timeOfLocal(text ?? null) ?? "" })}
      />
      <TextChip
        label="Identity"
        placeholder="its uid"
        value={search.identity}
        error={wrong("identity")}
        onText={(identity) => set({ identity: identity ?? "" })}
      />
      <TextChip
        label="Method"
        placeholder="registry.manifest.put"
        value={search.method}
        error={wrong("method")}
        onText={(method) => set({ method: method ?? "" })}
      />
      <TextChip
        label="Resource"
        placeholder="its uid"
        value={search.resource}
        error={wrong("resource")}
        onText={(resource) => set({ resource: resource ?? "" })}
      />
    </Toolbar>
  );
}
