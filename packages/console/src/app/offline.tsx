import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError } from "../api/errors.ts";
import styles from "./shell.module.css";

/** Says that the server does not answer, while requests are tried again. */
export function Offline() {
  const client = useQueryClient();
  const [isAway, setAway] = useState(false);
  useEffect(
    () =>
      client.getQueryCache().subscribe(({ type, query }) => {
        // Tables add many observers while they are rendered, which say nothing of the server.
        if (type !== "updated") return;
        const { fetchFailureReason, fetchStatus } = query.state;
        if (fetchFailureReason instanceof ApiError && fetchFailureReason.status === 0) setAway(true);
        else if (fetchStatus === "idle" && query.state.status === "success") setAway(false);
      }),
    [client],
  );
  return (
    <div role="status">
      {isAway && <p className={styles.offline}>The server is not responding. What you see may be old; trying again.</p>}
    </div>
  );
}
