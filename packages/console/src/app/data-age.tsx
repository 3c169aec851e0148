import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { testCapabilities } from "../api/gen/iam.ts";
import { listFeeds } from "../api/gen/operations.ts";
import { query } from "../api/queries.ts";
import { relativeTime } from "../lib/time.ts";
import { useOrganizations } from "./organization.ts";
import styles from "./side.module.css";

const LOOK_MS = 300_000;

/**
 * How old the data about vulnerabilities is: the least recent of the feeds, marked where one is older than its own
 * interval. For those who may see feeds.
 */
export function DataAge() {
  const { all } = useOrganizations();
  const uid = all?.[0]?.uid ?? "";
  const rights = useQuery({ ...query(testCapabilities, { uid }), enabled: uid !== "", staleTime: LOOK_MS });
  const isOperator = rights.data?.capabilities.includes("CAP_OPERATIONS_LIST") ?? false;
  const { data } = useQuery({
    ...query(listFeeds, {}),
    enabled: isOperator,
    retry: false,
    staleTime: LOOK_MS,
    refetchInterval: LOOK_MS,
  });
  if (data === undefined) return <p className={styles.age} />;
  const times = data.feeds.map(({ successTime }) => (successTime === undefined ? 0 : Date.parse(successTime)));
  if (times.length === 0) return <Line look={styles.none} text="No feeds" />;
  const oldestMs = Math.min(...times);
  if (oldestMs === 0) return <Line look={styles.old} text="A feed has never been read" />;
  const look = data.feeds.some(({ isOverdue }) => isOverdue) ? styles.old : "";
  return (
    <Line look={look} text={`Vulnerability data: ${relativeTime(new Date(oldestMs).toISOString(), Date.now())}`} />
  );
}

function Line({ look, text }: { look: string | undefined; text: string }) {
  return (
    <p className={styles.age}>
      <span className={`${styles.dot} ${look}`} />
      <Link to="/operations/feeds">{text}</Link>
    </p>
  );
}
