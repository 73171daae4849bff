/** Java threads that call C with OpenMP, whose teams call Java again, while objects are made and collected. */
public class JniWork {
    static native double dot(int n, int passes);
    static native long tree(int n);
    static native long each(int n);

    static volatile Object last;

    /** The sum of i's digits, with some garbage made on the way. */
    static int digits(int i) {
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < 20; k++)
            text.append(i).append(' ');
        last = text.toString().split(" ");
        int sum = 0;
        for (String word : (String[]) last.getClass().cast(text.toString().split(" ")))
            for (char c : word.toCharArray())
                sum += c - '0';
        return sum / 20;
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        long start = System.nanoTime();
        System.out.println("result dot " + dot(1 << 20, 40));
        System.out.println("result tree " + tree(30));
        System.out.println("result each " + each(4000));
        double[] dots = new double[3];
        long[] others = new long[3];
        Thread[] threads = new Thread[3];
        for (int i = 0; i < 3; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                dots[me] = dot(1 << 18, 40 + me);
                others[me] = tree(24 + me) + each(500 + me);
            });
            threads[i].start();
        }
        for (int i = 0; i < 3; i++) {
            threads[i].join();
            System.out.println("result thread " + i + " " + dots[i] + " " + others[i]);
        }
        System.gc();
        System.out.println("result again " + each(1000));
        System.out.println("time " + (System.nanoTime() - start) / 1e9);
    }
}
