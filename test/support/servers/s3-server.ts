/** A real S3 server on loopback, without a bucket. */
export interface S3Server {
  make: string;
  /** Without a slash at the end. */
  endpoint: string;
  accessKey: string;
  secretKey: string;
  region: string;
  stop(): Promise<void>;
}
