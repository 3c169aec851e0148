import { Download } from "lucide-react";
import { useRef, useState } from "react";
import { call } from "../../api/call.ts";
import { type AuditEntry, listAuditEntries } from "../../api/gen/iam.ts";
import { count } from "../../lib/bytes.ts";
import { csvLine } from "../../lib/csv.ts";
import { saveFile } from "../../lib/save-file.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { auditRequest, type AuditSearch } from "./audit-query.ts";

const PAGE_SIZE = 200;
const HEAD = ["time", "decision", "method", "identity", "resource", "reason", "remote_address", "user_agent"];
const MORE = ["token_id", "request_id", "code", "act", "details"];

/** Reads all that the filters let through, page by page, and saves it as CSV. It can be stopped. */
export function AuditExport({ search }: { search: AuditSearch }) {
  const [read, setRead] = useState<number>();
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  const save = async (): Promise<void> => {
    const { signal } = (stop.current = new AbortController());
    setError(undefined);
    setRead(0);
    try {
      const lines = [csvLine([...HEAD, ...MORE])];
      let pageToken = "";
      do {
        const request = { ...auditRequest(search, PAGE_SIZE), ...(pageToken !== "" && { pageToken }) };
        const { auditEntries, nextPageToken } = await call(listAuditEntries, request, { signal });
        lines.push(...auditEntries.map((entry) => csvLine(cellsOf(entry))));
        setRead(lines.length - 1);
        pageToken = nextPageToken;
      } while (pageToken !== "");
      saveFile("audit.csv", "text/csv;charset=utf-8", lines);
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
        <Button onClick={() => stop.current?.abort()}>Stop, {count(read)} read</Button>
      )}
      <ErrorNote error={error} />
    </>
  );
}

function cellsOf(entry: AuditEntry): string[] {
  return [
    entry.createTime ?? "",
    entry.decision === "AUDIT_DECISION_ALLOWED" ? "allowed" : "denied",
    entry.method,
    entry.identity,
    entry.resource,
    entry.reason,
    entry.remoteAddress,
    entry.userAgent,
    entry.tokenId,
    entry.requestId,
    String(entry.code),
    JSON.stringify(entry.act),
    JSON.stringify(entry.details),
  ];
}
