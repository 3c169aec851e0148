import type { Area } from "@moorage/kernel/core/area";
import { cancelMails, MAIL_STATE, mailPlace } from "./outbox.ts";
import { mailCommands } from "./queue.ts";
import { MAIL_TABLES } from "./tables.ts";
import { mailJobs } from "./jobs.ts";

export const mailArea: Area = {
  name: "mail",
  tables: MAIL_TABLES,
  below: { identity: { end: cancelMails } },
  async reseal(tx, secrets) {
    const rows = await tx
      .selectFrom("mails")
      .select(["uid", "content"])
      .where("state", "=", MAIL_STATE.waiting)
      .execute();
    for (const { uid, content } of rows) {
      if (content === "" || secrets.isCurrent(content)) continue;
      const sealed = secrets.seal(secrets.open(content, mailPlace(uid)), mailPlace(uid));
      await tx.updateTable("mails").set({ content: sealed }).where("uid", "=", uid).execute();
    }
  },
  commands: mailCommands,
  jobs: mailJobs,
};
