import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { getRepoSync, syncRepo } from "../../api/gen/registry.ts";
import { query } from "../../api/queries.ts";
import { bytes, count } from "../../lib/bytes.ts";
import { syncWord } from "../registry/kinds/sync-words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Facts, Row } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";

const POLL_MS = 2_000;

/** How the copying from the source goes; it can be asked for now. */
export function MirrorState({ uid, disabledReason }: { uid: string; disabledReason: string | undefined }) {
  const client = useQueryClient();
  const options = query(getRepoSync, { uid });
  const { data, error } = useQuery({ ...options, refetchInterval: POLL_MS });
  const now = useMutation({
    mutationFn: () => call(syncRepo, { uid }),
    onSuccess: (sync) => client.setQueryData(options.queryKey, sync),
  });
  const [look, word] = syncWord(data?.state ?? "SYNC_STATE_UNSPECIFIED");
  return (
    <section aria-label="State of the mirror">
      <ErrorNote error={error ?? now.error} />
      {data !== undefined && (
        <Facts
          facts={[
            ["State", <Badge key="state" look={look} children={word} />],
            ["Message", data.message],
            ["Last success", <Time key="success" value={data.lastSuccessTime} />],
            ["Last attempt", <Time key="attempt" value={data.lastAttemptTime} />],
            ["Next", data.nextTime && <Time key="next" value={data.nextTime} />],
            ["Tags there", count(data.tagsSeen)],
            ["Copied", `${count(data.manifestsCopied)} manifests, ${bytes(data.bytesCopied)}`],
            ["Failures in a row", data.consecutiveFailures > 0 ? count(data.consecutiveFailures) : undefined],
          ]}
        />
      )}
      <Row>
        <Button disabledReason={disabledReason} isBusy={now.isPending} onClick={() => now.mutate()}>
          Sync now
        </Button>
      </Row>
    </section>
  );
}
