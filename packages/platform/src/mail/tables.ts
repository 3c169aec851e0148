import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * Mails that were asked for, kept to be counted and shown after they have ended. `purpose`: what they are about;
     * `subject`: the uid of that, an invite or a person; `sender`: the identity that asked for it; `address_key`: the
     * address in lower case, by which it is counted; `content`: a MailText as JSON, sealed, empty when it is not
     * needed any more; `expire_time`: when what it holds is of no use any longer; `state`: of MAIL_STATE; `holder`,
     * `hold_until`: the process that sends it, until then, in milliseconds of the agreed time; without a holder, when
     * it is due.
     */
    mails: {
      uid: string;
      purpose: string;
      subject: string;
      organization: string;
      sender: string;
      address: string;
      address_key: string;
      content: string;
      state: number;
      reason: string;
      attempts: number;
      holder: string;
      hold_until: number;
      create_time: number;
      expire_time: number;
      end_time: number | null;
    };
  }
}

export const MAIL_TABLES = declareTables({
  mails: { key: ["uid"], weight: "length(content)" },
});
