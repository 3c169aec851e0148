import { useQuery } from "@tanstack/react-query";
import { isCode } from "../../api/call.ts";
import { getInstallation } from "../../api/gen/operations.ts";
import { query } from "../../api/queries.ts";
import { count, counted } from "../../lib/bytes.ts";
import { relativeTime } from "../../lib/time.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Numbers } from "../../ui/numbers.tsx";
import { Page } from "../../ui/page.tsx";
import { diskFacts, LittleSpace } from "./disk.tsx";
import { Garbage } from "./garbage.tsx";
import { Jobs } from "./jobs.tsx";
import { OperatorsOnly } from "./operators-only.tsx";

const STORES: Readonly<Record<string, string>> = { sqlite: "SQLite", postgres: "PostgreSQL", files: "files", s3: "S3" };

/** How the installation is doing: its jobs, and what garbage collection would remove. */
export function OperationsPage() {
  const { data, error } = useQuery(query(getInstallation, {}));
  if (isCode(error, "PERMISSION_DENIED")) return <OperatorsOnly title="Overview" />;
  return (
    <Page title="Overview" lede="How the server is doing, and which jobs it runs.">
      <ErrorNote error={error} />
      {data !== undefined && (
        <>
          <Numbers
            facts={[
              {
                label: "Version",
                value: data.version,
                note: `started ${relativeTime(data.startTime ?? "", Date.now())}`,
              },
              {
                label: "Database",
                value: STORES[data.engine] ?? data.engine,
                note: `blobs: ${STORES[data.blobStore] ?? data.blobStore}`,
              },
              ...diskFacts(data),
              { label: "Organizations", value: count(data.organizations) },
              { label: "Images", value: count(data.repos), note: counted(data.tags, "tag") },
            ]}
          />
          <LittleSpace disk={data.disk} />
          <Garbage />
          <Jobs />
        </>
      )}
    </Page>
  );
}
