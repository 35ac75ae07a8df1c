// What the code in the pages takes from the reader's own program.
import type { kinds } from "@sendledger/client";

declare global {
  interface Mail {
    from: string;
    subject: string;
    threadId: string;
    messageId: string;
  }
  function write(mail: Mail): Promise<string>;
  function fact(mail: Mail): kinds.ReplyFields["message"];
  function deliver(mail: { to: string | undefined; headers: Record<string, string> }): Promise<string>;
}
