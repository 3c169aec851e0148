import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { counted } from "../../lib/bytes.ts";
import { Time } from "../../ui/time.tsx";
import { dayBars, isWhole } from "./pulls/pull-days.ts";
import { DAYS, pullsByDayQuery, shownDays } from "./pulls/queries.ts";

/** How often the image was pulled in the last 30 days, or since that is counted. Nothing where it is not known. */
export function PullFact({ repoUid }: { repoUid: string }) {
  const [nowMs] = useState(() => Date.now());
  const { data } = useQuery({ ...pullsByDayQuery(repoUid, nowMs), retry: false });
  const since = data?.coverage?.since;
  if (data === undefined || since === undefined) return null;
  const pulls = data.pulls.reduce((sum, each) => sum + Number(each.count), 0);
  return (
    <li>
      <Download size={16} aria-hidden />
      <span>
        {counted(pulls, "pull")}{" "}
        {isWhole(dayBars(shownDays(nowMs), [], data.coverage)) ? (
          `in ${DAYS} days`
        ) : (
          <>
            counted since <Time value={since} />
          </>
        )}
      </span>
    </li>
  );
}
