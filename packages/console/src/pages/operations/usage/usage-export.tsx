import { Download } from "lucide-react";
import { useRef, useState } from "react";
import { call } from "../../../api/call.ts";
import { type GroupUsage, listUsage } from "../../../api/gen/registry.ts";
import { counted } from "../../../lib/bytes.ts";
import { csvLine } from "../../../lib/csv.ts";
import { saveFile } from "../../../lib/save-file.ts";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { usageRequest, type UsageSearch } from "./queries.ts";
import { usageCsv } from "./usage-csv.ts";

const PAGE_SIZE = 200;

/** Reads the rows of all groups of the list, page by page, and saves them as CSV. It can be stopped. */
export function UsageExport({ search }: { search: UsageSearch }) {
  const [read, setRead] = useState<number>();
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  const save = async (): Promise<void> => {
    const { signal } = (stop.current = new AbortController());
    setError(undefined);
    setRead(0);
    try {
      const rows: GroupUsage[] = [];
      let pageToken = "";
      do {
        const request = { ...usageRequest(search, PAGE_SIZE), ...(pageToken !== "" && { pageToken }) };
        const { usage, nextPageToken } = await call(listUsage, request, { signal });
        rows.push(...usage);
        setRead(rows.length);
        pageToken = nextPageToken;
      } while (pageToken !== "");
      saveFile("usage.csv", "text/csv;charset=utf-8", usageCsv(rows).map(csvLine));
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    }
    setRead(undefined);
  };
  return (
    <>
      {read === undefined ? (
        <Button onClick={() => void save()} icon={<Download size={16} aria-hidden />}>
          Export as CSV
        </Button>
      ) : (
        <Button onClick={() => stop.current?.abort()}>Stop, {counted(read, "row")} read</Button>
      )}
      <ErrorNote error={error} />
    </>
  );
}
